"""The one reader of JSON that comes from outside: it takes what has one meaning, or says why not.

RFC 8259 leaves open what equal keys, huge numbers and half characters mean, and parsers differ.
Contract §3 "Text rules" closes each of these gaps by refusing. The first pass runs in C and only
finds out that something is wrong; the second, taken for refused bodies alone, finds everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import accumulate, islice
from typing import Any, NamedTuple

from agentworks.rules.limits import JSON_DEPTH_MAX
from agentworks.rules.wording import shown

INTEGER_DIGITS_MAX = 4_300  # digits; Python reads no longer number without quadratic time
_PROBLEMS_MAX = 20  # problems told about one text
_NAME_SHOWN_MAX = 64  # characters of a key inside a path
_STRIDE = 64 * 1024  # bytes whose depth is measured at a time

_OPENING, _CLOSING = b"[{", b"]}"
_NOT_BRACKETS = bytes(set(range(256)) - set(_OPENING + _CLOSING))
_STEPS = bytes.maketrans(_OPENING + _CLOSING, bytes((1, 1, 255, 255)))  # +1, -1 as signed bytes
_SUSPECT_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")  # NUL, or half of a pair
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)


class NotStrictJson(Exception):
    """The text is no JSON, or means different things to different readers. Says all of it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(*problems)
        self.problems = problems


def parse(raw: bytes | str, *, depth_max: int = JSON_DEPTH_MAX, at: str = "") -> Any:
    """The value `raw` spells: dict, list, str, int, float, bool or None; integers exact.

    `at` is the path of the text itself and begins every path in the problems. Raises
    NotStrictJson; takes time and memory linear in the length of `raw`, whatever it holds.
    """
    text, octets = _both_forms(raw, at)
    if octets.count(b"[") + octets.count(b"{") > depth_max and _is_deeper(octets, depth_max):
        raise NotStrictJson([_told(at, f"nested deeper than {depth_max} levels")])
    try:
        value = _FAST.decode(text)
    except ValueError as fault:  # JSONDecodeError, a hook's, or int's for too many digits
        raise NotStrictJson(_all_problems(text, at, fault)) from None
    if b"\\u" in octets and _SUSPECT_ESCAPE.search(octets) and any(_flaws(value, None)):
        raise NotStrictJson(_told_flaws(value, at))
    return value


def exact_number(text: str) -> float | None:
    """The finite float that `text`, in JSON's grammar for numbers, spells without loss, or None.

    Without loss: reading and writing it again gives an equal decimal ("0.10", "1e2"), or the
    text spells out the very binary value. "1e400" and "0.10000000000000000001" are lossy.
    """
    value = float(text)
    if value in (_INFINITY, -_INFINITY):
        return None
    if value == 0:
        return None if text.lower().partition("e")[0].strip("-0.") else value
    if len(text) <= _DIGITS_ALWAYS_KEPT and abs(value) > 1e-300:
        return value
    spelled = Decimal(text)
    return value if spelled in (Decimal(repr(value)), Decimal(value)) else None


def text_problem(text: str) -> str | None:
    """What makes `text` unfit to store and to send on, or None (contract §3 "Text rules")."""
    if "\0" in text:
        return "has a NUL character"
    if not text.isascii() and _HALF_PAIR.search(text):
        return "has half of a surrogate pair"
    return None


def child(at: str, key: str | int) -> str:
    """The path of a member: `args.NOTE`, `IDS[3]`, `args["a key"]`."""
    if isinstance(key, int):
        return f"{at}[{key}]"
    if _PLAIN_NAME.fullmatch(key):
        return f"{at}.{key}" if at else key
    return f"{at}[{shown(key[:_NAME_SHOWN_MAX])}]"


# ── the first pass ───────────────────────────────────────────────────────────────────────────

_INFINITY = float("inf")
_DIGITS_ALWAYS_KEPT = 15  # decimal digits that a double keeps, whatever they are
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def _float(text: str) -> float:
    """A double, unless reading it as one would make another whole number of it.

    149.00000000000000000001 and 9007199254740993.0 must not become integers they are not.
    """
    value = float(text)
    if not value.is_integer() and value - value == 0:  # a fraction, and finite
        return value
    if exact_number(text) is None:
        raise ValueError("a number would be rounded")
    return value


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


_FAST = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_float, parse_constant=_constant, strict=True
)


def _both_forms(raw: bytes | str, at: str) -> tuple[str, bytes]:
    try:
        if isinstance(raw, str):
            text, octets = raw, raw.encode()
        else:
            text, octets = raw.decode(), raw
    except UnicodeError as fault:
        where = f"at byte {fault.start}" if isinstance(fault, UnicodeDecodeError) else ""
        what = f"not valid UTF-8 {where}" if where else "has half of a surrogate pair"
        raise NotStrictJson([_told(at, what)]) from None
    if text.startswith("\ufeff"):
        raise NotStrictJson([_told(at, "begins with a byte order mark; leave it out")])
    return text, octets


def _is_deeper(octets: bytes, depth_max: int) -> bool:
    """Measure depth before parsing, so that no nesting can exhaust the parser's stack.

    With its escapes taken out, a text is inside a string after an odd number of quotes.
    """
    bare = octets.replace(b"\\\\", b"").replace(b'\\"', b"")
    depth, inside = 0, 0
    for start in range(0, len(bare), _STRIDE):
        pieces = bare[start : start + _STRIDE].split(b'"')
        outside = b"".join(pieces[inside::2])
        inside ^= (len(pieces) - 1) & 1
        steps = memoryview(outside.translate(_STEPS, _NOT_BRACKETS)).cast("b")
        levels = list(accumulate(steps, initial=depth))
        if max(levels) > depth_max:
            return True
        depth = levels[-1]
    return False


# ── the second pass: everything that is wrong ────────────────────────────────────────────────


class _Unfit(NamedTuple):
    """Stands where a number was that cannot be taken."""

    why: str


_NO_VALUE = {
    text: _Unfit(f"{text} is not a JSON value") for text in ("NaN", "Infinity", "-Infinity")
}


class _Pairs(list[tuple[str, Any]]):
    """An object as it was written, equal keys and all."""


class _Place(NamedTuple):
    """Where a value lies; a chain, so that paths cost nothing until one is told."""

    parent: _Place | None
    key: str | int


def _judged_float(text: str) -> Any:
    value = float(text)
    if abs(value) == _INFINITY:
        return _Unfit(f"the number {text[:_NAME_SHOWN_MAX]} is too large")
    if value.is_integer() and exact_number(text) is None:
        return _Unfit(f"the number {text[:_NAME_SHOWN_MAX]} would be rounded")
    return value


def _judged_int(text: str) -> Any:
    if len(text.lstrip("-")) > INTEGER_DIGITS_MAX:
        return _Unfit(f"the integer has more than {INTEGER_DIGITS_MAX:,} digits")
    return int(text)


def _judged_constant(text: str) -> Any:
    return _NO_VALUE[text]


_THOROUGH = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_float=_judged_float,
    parse_int=_judged_int,
    parse_constant=_judged_constant,
    strict=False,  # control characters are the first pass's finding; here the rest is looked for
)


def _all_problems(text: str, at: str, fault: ValueError) -> list[str]:
    syntax = [_told(at, _syntax(fault))] if isinstance(fault, json.JSONDecodeError) else []
    try:
        written = _THOROUGH.decode(text)
    except json.JSONDecodeError as broken:
        return syntax or [_told(at, _syntax(broken))]
    return syntax + _told_flaws(written, at)


def _syntax(fault: json.JSONDecodeError) -> str:
    if not fault.doc.strip(" \t\r\n"):
        return "not JSON: empty"
    what = "text after the value" if fault.msg == "Extra data" else fault.msg.removesuffix(" at")
    return f"not JSON: {what} at line {fault.lineno} column {fault.colno}"


def _told_flaws(value: Any, at: str) -> list[str]:
    found = list(islice(_flaws(value, None), _PROBLEMS_MAX + 1))
    problems = [_told(_path(place, at), what) for place, what in found[:_PROBLEMS_MAX]]
    return [*problems, "and more of the kind"] if len(found) > _PROBLEMS_MAX else problems


def _flaws(value: Any, place: _Place | None) -> Iterator[tuple[_Place | None, str]]:
    """Every flaw of a parsed value with its place, in the order of the text."""
    if isinstance(value, str):
        problem = text_problem(value)
        if problem is not None:
            yield place, problem
    elif isinstance(value, _Unfit):
        yield place, value.why
    elif isinstance(value, list) and not isinstance(value, _Pairs):
        for index, each in enumerate(value):
            yield from _flaws(each, _Place(place, index))
    elif isinstance(value, (dict, _Pairs)):
        yield from _object_flaws(value, place)


def _object_flaws(
    value: dict[str, Any] | _Pairs, place: _Place | None
) -> Iterator[tuple[_Place | None, str]]:
    seen: set[str] = set()
    for key, each in value.items() if isinstance(value, dict) else value:
        if key in seen:
            yield place, f"the key {shown(key[:_NAME_SHOWN_MAX])} appears twice"
        seen.add(key)
        problem = text_problem(key)
        if problem is not None:
            yield place, f"the key {shown(key[:_NAME_SHOWN_MAX])} {problem}"
        yield from _flaws(each, _Place(place, key))


def _path(place: _Place | None, at: str) -> str:
    keys: list[str | int] = []
    while place is not None:
        keys.append(place.key)
        place = place.parent
    for key in reversed(keys):
        at = child(at, key)
    return at


def _told(at: str, what: str) -> str:
    return f"{at}: {what}" if at else what
