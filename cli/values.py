"""The words of a command line as values: exact, or a usage fault that says what is wrong."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import click
import msgspec

STDIN_BYTES_MAX = 16 * 1024 * 1024  # the server's limit for a body (contract §3)
WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)")


def whole_number(word: str) -> int:
    """An integer as JSON spells it. Neither ' 5' nor '1_000' nor other scripts' digits."""
    try:
        if WHOLE_NUMBER.fullmatch(word):
            return int(word)
    except ValueError:
        pass  # more digits than Python reads
    raise click.BadParameter(f"{word[:40]!r} is not a whole number")


def json_value(word: str) -> msgspec.Raw:
    """JSON text, checked and then passed on as it was written, so that no digit is lost."""
    import json

    try:
        json.loads(word, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except RecursionError:
        raise click.BadParameter("is JSON of too great a depth") from None
    except ValueError as wrong:
        raise click.BadParameter(f"is not JSON: {wrong}") from None
    return msgspec.Raw(word.encode())


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twins = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"the same key twice: {', '.join(map(repr, twins))}")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def stdin_text(ctx: click.Context, param: click.Parameter) -> str:
    """All of standard input, exactly: no line end is added or removed."""
    earlier = ctx.meta.setdefault("cli.stdin", param.name)
    if earlier != param.name:
        raise click.BadParameter(f"standard input is already read for {earlier}")
    if sys.stdin is None:
        raise click.BadParameter("standard input is closed")
    raw = sys.stdin.buffer.read(STDIN_BYTES_MAX + 1)
    if len(raw) > STDIN_BYTES_MAX:
        raise click.BadParameter(f"standard input is longer than {STDIN_BYTES_MAX} bytes")
    return utf8(raw, "standard input")


def utf8(raw: bytes, what: str) -> str:
    """Bytes as text, or a usage fault that says where they stop being UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise click.BadParameter(f"{what} is not UTF-8 at byte {wrong.start}") from None


def words_of(argv: list[str]) -> list[str]:
    """The arguments as the UTF-8 text that was typed, whatever the locale took them for."""
    return [utf8(os.fsencode(word), f"argument {count}") for count, word in enumerate(argv, 1)]
