"""A definition as TOML, to be read again by tomllib: what `agentworks export` writes.

TOML has no null. Where a definition may hold one (inputs, a result schema, a runtime's settings),
that part is written as JSON within a string, which `apply` takes as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

AS_TEXT = frozenset({"inputs", "result_schema", "runtime"})  # what may be written as JSON
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f"\\]')
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def document(value: dict[str, Any]) -> str:
    """A JSON object, without nulls but where JSON texts may stand, as a TOML document."""
    return "\n".join(_table(value, "")).strip("\n") + "\n"


def _table(value: dict[str, Any], at: str) -> Iterator[str]:
    """The values of a table first, then the tables inside it: TOML wants this order."""
    inner: list[tuple[str, Any]] = []
    for key, each in value.items():
        tables = _is_table(each) or _is_tables(each)
        if _has_null(each) and (key in AS_TEXT or not tables):
            yield f"{_key(key)} = {_text(json.dumps(each, ensure_ascii=False))}"
        elif tables:
            inner.append((key, each))
        else:
            yield f"{_key(key)} = {_value(each, alone=True)}"
    for key, each in inner:
        path = f"{at}.{_key(key)}" if at else _key(key)
        for table in each if isinstance(each, list) else [each]:
            yield ""
            yield f"[[{path}]]" if isinstance(each, list) else f"[{path}]"
            yield from _table(table, path)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_table, value))


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(_has_null, value)))


def _value(value: Any, *, alone: bool = False) -> str:
    """A value on the right of a `=`; a text that stands alone may take several lines."""
    if isinstance(value, str):
        return _lines(value) if alone and "\n" in value else _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return json.dumps(value)  # true, false, 149 and 1e+30 are written alike


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return f'"{_UNSAFE.sub(_escaped, text)}"'


def _lines(text: str) -> str:
    lines = (_UNSAFE.sub(_escaped, line) for line in text.split("\n"))
    return '"""\n' + "\n".join(lines) + '"""'


def _escaped(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"
