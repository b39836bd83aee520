"""wakeups.reschedule: the same wakeup at another time."""

from __future__ import annotations

from agentworks import clock
from agentworks.contracts.operation import Caller
from agentworks.contracts.turns import RescheduleWakeup, WakeupScheduled
from agentworks.rules import refusals_of_turns as refusals
from agentworks.store import Transaction
from agentworks.tables import wakeups

_MINUTE = 60_000  # milliseconds


def reschedule(tx: Transaction, caller: Caller, request: RescheduleWakeup) -> WakeupScheduled:
    wakeup = wakeups.find(tx, caller.chat_id, request.wakeup_id)
    if wakeup is None:
        raise refusals.unknown_wakeup(request.wakeup_id)
    if wakeup.state != "scheduled":
        raise refusals.wakeup_over(wakeup.wakeup_id, wakeup.state)
    due_at = tx.now + request.in_minutes * _MINUTE
    wakeups.move(tx, wakeup.wakeup_id, due_at)
    return WakeupScheduled(wakeup_id=wakeup.wakeup_id, due_at=clock.rfc3339(due_at))
