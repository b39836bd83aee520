"""What is said about a call in words: who calls, what is running, and what to do next."""

from __future__ import annotations

from agentworks import clock
from agentworks.contracts.operation import Caller, CallerKind

_SECOND, _MINUTE, _HOUR = 1_000, 60_000, 3_600_000  # milliseconds
_MINUTES_FROM, _HOURS_FROM = 2 * _MINUTE, 2 * _HOUR  # below, the smaller unit says more

#: Kinds of callers whose conversations go on, so that an outcome can prompt a turn there.
CONVERSING = frozenset(
    {
        CallerKind.CREW_BUILDER,
        CallerKind.WORKFLOW_BUILDER,
        CallerKind.WORKFLOW_RUN,
        CallerKind.WORKFLOW_PULSE,
        CallerKind.CODE,
    }
)


def caller_name(caller: Caller) -> str:
    """As the agent is told, and as a list of calls shows it."""
    return caller.label or caller.account_name


def caller_id(caller: Caller) -> str:
    """The agent that called, else the connection, else the account."""
    return caller.agent_id or caller.connection_id or caller.account_id


def running(function: str, since: int, call_id: str | None) -> str:
    """One line for a caller who found no room. `call_id` only if the call is that caller's own."""
    told = f"{function} since {clock.rfc3339(since)}"
    return f"{told} ({call_id})" if call_id else told


def ago(milliseconds: int) -> str:
    """A duration, as exact as it matters: 12 s, 5 min, 3 h."""
    if milliseconds < _MINUTES_FROM:
        return f"{max(milliseconds, 0) // _SECOND} s"
    if milliseconds < _HOURS_FROM:
        return f"{milliseconds // _MINUTE} min"
    return f"{milliseconds // _HOUR} h"


# ── next ─────────────────────────────────────────────────────────────────────────────────────


def accepted(call_id: str, queued_behind: int) -> str:
    """Of a call that was accepted just now."""
    if queued_behind:
        return f"it waits its turn behind {_turns(queued_behind)}; {_get(call_id, 1)}"
    return f"accepted just now; {_get(call_id, 1)}"


def waiting(call_id: str, revision: int, silent: int, queued_behind: int) -> str:
    """Of a call that no turn works on yet. `silent` is milliseconds since the last sign of life."""
    behind = f" behind {_turns(queued_behind)}" if queued_behind else ""
    return f"accepted {ago(silent)} ago, waits its turn{behind}; {_get(call_id, revision)}"


def working(call_id: str, revision: int, silent: int) -> str:
    return f"last sign of life {ago(silent)} ago; {_get(call_id, revision)}"


def asking(request_ids: list[str], silent: int) -> str:
    """Of a call that waits to be told something."""
    which = request_ids[0] if len(request_ids) == 1 else f"{request_ids[0]} and others"
    return (
        f"it waits for your answer: reply with request_id {which}; last sign of life "
        f"{ago(silent)} ago"
    )


def timed_out(call_id: str, revision: int, silent: int) -> str:
    return (
        f"last sign of life {ago(silent)} ago: do not wait for it; an answer that still comes "
        f"makes it late, which get_call with call_id {call_id} and after {revision} tells"
    )


def ended(state: str, files: bool, expired: bool) -> str:
    """Of a call that has come to its end."""
    told = _ENDED[state]
    if files:
        told += "; its files have been removed" if expired else "; its files can be read"
    return told


def replied(call_id: str, revision: int) -> str:
    return f"the call goes on; {_get(call_id, revision)}"


_AGAIN = "a new call for the same work needs a new submission_id"
_ENDED = {
    "answered": "answered: nothing more will come; ask again to go on",
    "completed": "completed: nothing more will come",
    "late": "its answer came after all, late; nothing more will come",
    "failed": f"failed, and is not repeated by itself; {_AGAIN}",
    "interrupted": "the server stopped while it ran, and it is not repeated by itself: see what "
    f"it did first; {_AGAIN}",
}


def _get(call_id: str, revision: int) -> str:
    return f"get_call with call_id {call_id} and after {revision} waits for news"


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"
