"""Watch something until it ends: the same read again and again, each waiting for the next change.

What is new goes to stderr as it comes; the last answer is the command's answer.
"""

from __future__ import annotations

from typing import Any

from agentworks.contracts.operation import Operation
from cli import remote
from cli.config import Reach
from cli.remote import Reply
from cli.render import one_line, say

_GOING_ON = "working"
_WAIT_SECONDS = 25  # per read: the longest the server allows


def watched(reach: Reach, operation: Operation[Any, Any], args: dict[str, Any]) -> Reply:
    """The answer that says something else than `working`. Ends early only by Ctrl-C."""
    seen: dict[str, None] = {}
    args = args | {"wait_seconds": 0}
    while True:
        reply = remote.call(reach, operation, args)
        for line in news(reply.answer):
            if line not in seen:
                seen[line] = None
                say(line)
        if reply.answer.get("status") != _GOING_ON:
            return reply
        args |= {"after": reply.answer["revision"], "wait_seconds": _WAIT_SECONDS}


def news(answer: dict[str, Any]) -> list[str]:
    """What an answer tells besides its end: progress, and questions that wait for somebody."""
    lines = [f"{each['at']}  {one_line(each['line'])}" for each in answer.get("progress", [])]
    for each in answer.get("pending_inputs", []):
        lines.append(f"asks ({each['request_id']}): {one_line(each['question'])}")
    return lines
