"""From an answer to what a person or a program reads, and to the exit code of the process."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from enum import IntEnum
from typing import Any


class Exit(IntEnum):
    """What the process ends with (contract §8)."""

    ANSWERED = 0
    FAULT = 1
    USAGE = 2
    REFUSED = 3
    NOT_SIGNED_IN = 4
    FAILED = 5
    BUSY = 6
    UNREACHABLE = 7
    WORKING = 8


#: An answer's status, or a refusal's code where that says more. Anything else was answered.
EXITS = {
    "fault": Exit.FAULT,
    "refused": Exit.REFUSED,
    "not_signed_in": Exit.NOT_SIGNED_IN,
    "rate_limited": Exit.BUSY,
    "busy": Exit.BUSY,
    "failed": Exit.FAILED,
    "interrupted": Exit.FAILED,
    "timed_out": Exit.FAILED,
    "working": Exit.WORKING,
}

#: What the head of a message says.
MESSAGE_NAMES = ("sequence", "sender", "sent_at", "delivery", "message_id", "reply_address")

#: Characters that move the cursor, colour, hide or reorder text: C0 and C1 controls, bidirectional
#: and invisible marks, tag letters. Joiners stay, for emoji and for languages that need them.
UNSEEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


class Stop(Exception):
    """The command ends here, with a sentence for stderr and an exit code."""

    def __init__(self, message: str, code: Exit) -> None:
        super().__init__(message)
        self.message, self.code = message, code


def exit_code(answer: dict[str, Any]) -> Exit:
    """The exit code that goes with an answer."""
    status = str(answer.get("status"))
    code = str(answer.get("code")) if status == "refused" else status
    return EXITS.get(code, EXITS.get(status, Exit.ANSWERED))


def show(raw: bytes) -> None:
    """Write bytes to stdout, all of them and now. Raises BrokenPipeError when nobody reads on."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise Stop(f"cannot write the answer: {fault.strerror}", Exit.FAULT) from None


def say(text: str) -> None:
    """Write a line for the person to stderr; other people's characters cannot steer a terminal."""
    if sys.stderr is None:
        return
    sys.stderr.buffer.write(visible(text).encode("utf-8", "backslashreplace") + b"\n")
    sys.stderr.buffer.flush()


def visible(text: str) -> str:
    """The same text with every control and invisible character spelled out; lines stay lines."""
    return re.sub(UNSEEN, lambda found: spelled(found[0]), text)


def spelled(character: str) -> str:
    r"""One character as \xNN, \uNNNN or \UNNNNNNNN."""
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def one_line(value: Any) -> str:
    """A value as it stands in a table or behind a name; it cannot start a line of its own."""
    if value is None or value in ([], {}, ""):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(one_line(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{one_line(name)}={one_line(item)}" for name, item in value.items())
    return visible(str(value)).replace("\n", "\\n").replace("\t", "\\t")


def answer_text(answer: dict[str, Any]) -> str:
    """An answer that is no refusal, for a person."""
    if answer.get("status") == "page" and isinstance(answer.get("messages"), list):
        return "\n".join(page_lines(answer))
    rest = dict(answer)
    status, hint = rest.pop("status", ""), rest.pop("next", None)
    lines = [one_line(status), *named_lines(rest, "  ")]
    if hint:
        lines.append(f"next: {one_line(hint)}")
    return "\n".join(lines)


def named_lines(values: dict[str, Any], indent: str) -> Iterator[str]:
    """`name  value` lines; a list of objects becomes a table, an object an indented part."""
    width = max((len(one_line(name)) for name in values), default=0)
    for name, value in values.items():
        label = one_line(name)
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield f"{indent}{label}"
            yield from (f"{indent}  {line}" for line in table_lines(value))
        elif isinstance(value, dict) and value:
            yield f"{indent}{label}"
            yield from named_lines(value, indent + "  ")
        else:
            yield f"{indent}{label:<{width}}  {one_line(value)}"


def table_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Rows under the names of their fields, in the order in which the fields first appear."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[one_line(name) for name in names]]
    cells += [[one_line(row.get(name)) for name in names] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    for line in cells:
        yield "  ".join(
            f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)
        ).rstrip()


def page_lines(page: dict[str, Any]) -> Iterator[str]:
    """Messages as blocks. Each line of a text stands behind a bar, so none can pass for ours."""
    if page.get("gap"):
        yield "(older messages than these have been removed)"
    for each in page["messages"]:
        known = {name: one_line(each.get(name)) for name in MESSAGE_NAMES}
        yield "[{sequence}] {sender}  {sent_at}  {delivery}".format_map(known)
        yield "    {message_id}  reply: --inbox {reply_address}".format_map(known)
        yield from (f"  | {line}" for line in visible(str(each.get("message"))).split("\n"))
        yield ""
    news = "" if page["messages"] else "no new messages; "
    yield f"{news}continue with --after {one_line(page.get('next_cursor'))}"


def refusal_lines(refused: dict[str, Any], corrected: str) -> Iterator[str]:
    """Why nothing was started, and the call that would be: `corrected` is a command line or ""."""
    problems = refused.get("problems") or []
    yield f"refused: {one_line(refused.get('code'))}"
    yield from (f"  - {one_line(problem)}" for problem in problems)
    for name in ("function", "functions", "matches", "running", "retry_at"):
        if refused.get(name):
            yield from named_lines({name: refused[name]}, "  ")
    if corrected:
        yield "try:"
        yield f"  {corrected}"
    if refused.get("placeholders"):
        yield f"  with your own value for: {one_line(refused['placeholders'])}"
