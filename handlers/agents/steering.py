"""A message into the work on a call that runs: what `ask` does when it is about one."""

from __future__ import annotations

from typing import Any

from agentworks import inboxes, visible_calls
from agentworks.contracts.calls import CallAnswer
from agentworks.contracts.operation import Caller
from agentworks.rules import limits
from agentworks.rules import refusals_of_work as refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import calls, conversations, turns
from agentworks.tables.calls import Call
from agentworks.targets import Target

_HOUR = 3_600_000  # milliseconds


def running(
    db: Snapshot, caller: Caller, target: Target, call_id: str, question: dict[str, Any]
) -> Call:
    """The caller's own call of this target, while it can take a message. Refuses any other.

    `question` is what was asked, but for what it is about and whom it was put to.
    """
    call = visible_calls.find(db, caller, call_id)
    if not visible_calls.made(caller, call.account_id, call.caller_chat_id):
        raise refusals.unknown_call(call_id)
    if call.agent_id != target.agent.agent_id:
        meant = question | {"target": call.target, "about": call_id}
        raise refusals.about_another(call_id, meant)
    works = call.state == "working" or calls.is_worked_on(db, call_id)
    if call.final or not works:
        raise refusals.call_ended(call_id, call.state)
    return call


def steer(tx: Transaction, caller: Caller, call: Call, message: str) -> CallAnswer:
    """Leave the message for the running turn, or for the call's next one. Limits refuse first."""
    _within_limits(tx, call)
    _keep(tx, caller, call, message)
    turns.queue(tx, call.chat_id, "steer", call.call_id, message)
    tx.ring("turns")
    visible_calls.wait(tx, call.call_id)
    return visible_calls.shown(tx, call)


def _within_limits(db: Snapshot, call: Call) -> None:
    sent = calls.steered_since(db, call.call_id, db.now - _HOUR)
    most = limits.STEERS_PER_HOUR_MAX
    if len(sent) >= most:
        retry_at = sent[-most].queued_at + _HOUR
        raise refusals.too_many_steers(call.call_id, most, retry_at)
    if turns.queued_of_call(db, call.call_id) >= limits.STEERS_WAITING_MAX:
        raise refusals.steers_waiting(call.call_id, limits.STEERS_WAITING_MAX)


def _keep(tx: Transaction, caller: Caller, call: Call, message: str) -> None:
    """What is said about an ask belongs to its conversation, and counts there."""
    found = conversations.find(tx, call.inbox_id) if call.inbox_id else None
    if found is not None:
        oldest = inboxes.within_limits(tx, found)
        inboxes.put(tx, caller, found, True, None, oldest, message)
