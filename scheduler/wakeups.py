"""Each minute: wakeups whose time has come become turns of their chats, unless they are held.

A paused server or a paused agent holds its wakeups; they come when it is let go. Several that are
due in one chat prompt one turn.
"""

from __future__ import annotations

from msgspec import Struct

from agentworks.rules import limits
from agentworks.store import Transaction
from agentworks.tables import turns, wakeups


class Fired(Struct, frozen=True):
    """The wakeups that became turns in one pass, by id."""

    wakeups: list[str]


def fire_due_wakeups(tx: Transaction) -> Fired:
    """Claim what is due, oldest first. Safe to miss and to repeat: a claimed one is not due."""
    queued: dict[tuple[str, str, str | None], str] = {}
    fired = []
    for due in wakeups.due(tx, limits.WAKEUPS_PER_SWEEP_MAX):
        launch = (due.chat_id, due.account_id, due.connection_id)
        if launch not in queued:
            queued[launch] = turns.queue(
                tx,
                due.chat_id,
                "wakeup",
                None,
                "",
                account_id=due.account_id,
                connection_id=due.connection_id,
            )
        if wakeups.fire(tx, due.wakeup_id, queued[launch]):
            fired.append(due.wakeup_id)
    if fired:
        tx.ring("turns")
    return Fired(fired)
