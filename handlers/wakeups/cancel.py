"""wakeups.cancel: a wakeup of this conversation does not happen."""

from __future__ import annotations

from agentworks.contracts.operation import Caller
from agentworks.contracts.turns import CancelWakeup, WakeupCancelled
from agentworks.rules import refusals_of_turns as refusals
from agentworks.store import Transaction
from agentworks.tables import wakeups


def cancel(tx: Transaction, caller: Caller, request: CancelWakeup) -> WakeupCancelled:
    """Cancelling it again changes nothing."""
    wakeup = wakeups.find(tx, caller.chat_id, request.wakeup_id)
    if wakeup is None:
        raise refusals.unknown_wakeup(request.wakeup_id)
    if not wakeups.cancel(tx, wakeup.wakeup_id) and wakeup.state != "cancelled":
        raise refusals.wakeup_over(wakeup.wakeup_id, wakeup.state)
    return WakeupCancelled(wakeup_id=wakeup.wakeup_id)
