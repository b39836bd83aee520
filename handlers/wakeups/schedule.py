"""wakeups.schedule: another turn in this very conversation, later."""

from __future__ import annotations

from agentworks import clock
from agentworks.contracts.operation import Caller
from agentworks.contracts.turns import ScheduleWakeup, WakeupScheduled
from agentworks.rules import limits
from agentworks.rules import refusals_of_turns as refusals
from agentworks.store import Transaction
from agentworks.tables import chats, wakeups

_MINUTE = 60_000  # milliseconds


def schedule(tx: Transaction, caller: Caller, request: ScheduleWakeup) -> WakeupScheduled:
    chat = chats.find(tx, caller.chat_id)
    if chat is None or chat.kind == "call":
        raise refusals.no_wakeups_here()
    most = limits.WAKEUPS_PER_CHAT_MAX
    if len(wakeups.scheduled_in(tx, chat.chat_id)) >= most:
        raise refusals.too_many_wakeups(most)
    due_at = tx.now + request.in_minutes * _MINUTE
    wakeup_id = wakeups.add(
        tx,
        chat.chat_id,
        due_at,
        request.reason,
        caller.account_id,
        caller.connection_id or None,
    )
    return WakeupScheduled(wakeup_id=wakeup_id, due_at=clock.rfc3339(due_at))
