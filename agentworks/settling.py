"""How turns end, and with them their calls: everything about one ending in one transaction.

Used by the runner when a turn is over or cannot begin, and by recovery for what an earlier server
left. A call ends once; only a timed-out one moves on, to late, failed or interrupted (contract §5).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agentworks.store import Transaction
from agentworks.tables import (
    answers,
    calls,
    deliveries,
    executions,
    steers,
    turn_tokens,
    turns,
    wakeups,
)
from agentworks.tables.executions import Called
from agentworks.tables.turns import Turn

State = Literal["answered", "completed", "failed", "timed_out", "late", "interrupted"]
_TURN_ENDS = {"failed": "failed", "timed_out": "failed", "interrupted": "interrupted"}
_STOP_WORD = "stop"
CALL_OVER = "its call has ended"
STOPPED = "the server stopped while it ran; it is not repeated"


class Ending(Struct, frozen=True, kw_only=True):
    """How a turn ended. `result`, `usage` and `files` are JSON texts; "" is nothing."""

    state: State
    reason: str = ""
    answer: str = ""
    result: str = ""
    result_file: str = ""
    partial: str = ""
    usage: str = ""
    files: str = ""
    session_ref: str = ""

    @property
    def well(self) -> bool:
        return self.state in ("answered", "completed")


def settle(tx: Transaction, turn_id: str, ending: Ending) -> bool:
    """End a running turn, its token, its questions and, unless work on it goes on, its call.

    Nothing of the turn may be alive. False when the turn is not running, or gone with its agent.
    """
    turn = turns.find(tx, turn_id)
    state = _TURN_ENDS.get(ending.state, "ended")
    reason, usage = ending.reason or None, ending.usage or None
    if turn is None or not turns.end(tx, turn_id, state, reason, usage):
        return False
    turn_tokens.remove(tx, turn_id)
    over = turn.call_id is not None and _settle_call(tx, turn, turn.call_id, ending)
    with_durable = over and ending.state != "interrupted"  # those survive a restart (contract §11)
    answers.withdraw(tx, turn_id, with_durable)
    answers.tell_all(tx, turn_id, with_durable)
    _settle_deliveries(tx, turn, interrupted=ending.state == "interrupted")
    executions.keep_session(tx, turn.chat_id, ending.session_ref or None)
    tx.ring("turns")
    return True


def cancel(tx: Transaction, turn: Turn, reason: str) -> None:
    """End a queued turn that cannot begin: what it was to work on ends with this reason."""
    if not turns.leave(tx, turn.turn_id, "cancelled", reason):
        return
    wakeups.settle(tx, turn.turn_id, "cancelled")
    if turn.call_id is not None:
        fail_call(tx, turn.call_id, reason)
    tx.ring("turns")


def fail_call(tx: Transaction, call_id: str, reason: str) -> None:
    """End a call of which nothing runs."""
    call = executions.called(tx, call_id)
    if call is not None and executions.settle(tx, call_id, "working", "failed", reason=reason):
        _close(tx, call)


def time_out(tx: Transaction, call_id: str, reason: str) -> None:
    """The caller need not wait any longer; the turn still runs, and the slot is still held."""
    call = executions.called(tx, call_id)
    was = "working"
    if call and executions.settle(tx, call_id, was, "timed_out", alive=True, reason=reason):
        tx.ring(calls.bell(call_id))
        _notify(tx, call)


def _settle_call(tx: Transaction, turn: Turn, call_id: str, ending: Ending) -> bool:
    """True when the call has ended, now or before."""
    call = executions.called(tx, call_id)
    if call is None or call.state not in ("working", "timed_out"):
        return True  # this turn came after its end
    tx.ring(calls.bell(call_id))
    if call.state == "working" and ending.well and _goes_on(tx, call_id):
        executions.park(tx, call_id)
        return False
    was = call.state
    if was == "working" and ending.state in ("late", "timed_out"):
        executions.settle(tx, call_id, was, "timed_out", reason=ending.reason)
        was = "timed_out"
    executions.settle(
        tx,
        call_id,
        was,
        _becomes(call.kind, was, ending),
        reason=ending.reason or None,
        answer=ending.answer or ("" if ending.well or ending.state == "late" else None),
        result=ending.result or None,
        result_file=ending.result_file or None,
        partial=ending.partial or None,
        usage=ending.usage or None,
        files=ending.files or None,
    )
    _close(tx, call)
    return True


def _goes_on(tx: Transaction, call_id: str) -> bool:
    """Whether a further turn of the call is queued, or a person may still cause one."""
    said = steers.prompts_of_call(tx, call_id)
    return not all(map(means_stop, said)) or answers.waits_for_person(tx, call_id)


def means_stop(text: str) -> bool:
    """Contract §5: "stop" asks the runtime to stop; any longer sentence is for the agent."""
    return text.strip().rstrip(".!").lower() == _STOP_WORD


def _becomes(kind: str, was: str, ending: Ending) -> str:
    """A function is completed, an ask answered, whatever its agent's runtime calls it."""
    if not ending.well:
        return ending.state
    if was == "timed_out":
        return "late"
    return "answered" if kind == "ask" else "completed"


def _close(tx: Transaction, call: Called) -> None:
    """A call has ended. `call` is as it was before: whoever waits is told of its first end only."""
    tx.ring(calls.bell(call.call_id))
    turns.cancel_queued_of_call(tx, call.call_id, CALL_OVER)
    if call.state == "working":
        _notify(tx, call)


def _notify(tx: Transaction, call: Called) -> None:
    """The outcome prompts one turn where the caller asked for it, which reads the call's row."""
    if call.notify_chat_id is None or executions.host(tx, call.notify_chat_id) is None:
        return
    turns.queue(
        tx,
        call.notify_chat_id,
        "notify",
        None,
        call.call_id,
        account_id=call.account_id,
        connection_id=call.connection_id,
    )
    tx.ring("turns")


def _settle_deliveries(tx: Transaction, turn: Turn, *, interrupted: bool) -> None:
    """The messages and wakeups that caused the turn. What had not begun was not delivered."""
    wakeups.settle(tx, turn.turn_id, "interrupted" if interrupted else "fired")
    host = executions.host(tx, turn.chat_id)
    if turn.cause != "messages" or host is None or host.holder is None:
        return
    unbegun, begun = ("interrupted",) * 2 if interrupted else ("undeliverable", "processed")
    deliveries.move(tx, host.holder, turn.turn_id, "dispatching", unbegun)
    deliveries.move(tx, host.holder, turn.turn_id, "admitted", begun)
