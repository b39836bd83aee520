"""A call as a command line to paste into a shell: how a refusal's `try` is printed."""

from __future__ import annotations

import re
import shlex
from typing import Any

import msgspec

from agentworks.contracts.operation import Operation
from cli.options import Input, inputs_of
from cli.render import UNSEEN


def command_line(operation: Operation[Any, Any], args: dict[str, Any], given: list[str]) -> str:
    """A call as a command, or "" when an input has no place on a command line.

    `given` are the global options of the command that was refused.
    """
    inputs = {each.name: each for each in inputs_of(operation.request)}
    if operation.cli is None or not args.keys() <= inputs.keys():
        return ""
    options: list[str] = []
    loose: list[str] = []
    before = ""
    for name, value in args.items():
        each = inputs[name]
        if each.stdin and value == "-":
            before = "printf %s - | "  # here "-" is the text itself
        if each.positional:
            loose += _words(value)
        else:
            options += _option(each, value)
    if any(word.startswith("-") and word != "-" for word in loose):
        options.append("--")
    start = " ".join(quoted(word) for word in ("agentworks", *given, *operation.cli.split()))
    return before + " ".join([start, *options, *map(quoted, loose)])


def _option(each: Input, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{each.flag}" if value else f"--no-{each.flag}"]
    if value == [] and each.clears:
        return [f"--no-{each.flag}"]
    return [f"--{each.flag} {quoted(word)}" for word in _words(value)]


def _words(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [
        each if isinstance(each, str) else msgspec.json.encode(each).decode() for each in values
    ]


def quoted(word: str) -> str:
    """A word for the shell. One with control or invisible characters is spelled out as $'…'."""
    if not re.search(UNSEEN, word):
        return shlex.quote(word)
    plain = word.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return "$'" + re.sub(UNSEEN, lambda found: _spelled(found[0]), plain) + "'"


def _spelled(character: str) -> str:
    number = ord(character)
    if number < 0x80:  # above, \xNN would be a byte to the shell and no character
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
