"""The store itself: its epoch, which a restore raises, and the pause of its scheduler."""

from __future__ import annotations

from agentworks.store import Snapshot, Transaction


def epoch(db: Snapshot) -> int:
    return int(db.value("SELECT epoch FROM store WHERE one = 1"))


def is_paused(db: Snapshot) -> bool:
    """True while the wakeups and schedules of every agent are held."""
    return db.value("SELECT paused_at FROM store WHERE one = 1") is not None


def pause(tx: Transaction, paused: bool) -> None:
    """Hold every wakeup and schedule, or let them go; holding again keeps the first moment."""
    tx.run(
        """
        UPDATE store
        SET paused_at = CASE WHEN :paused = 1 THEN coalesce(paused_at, :now) END
        WHERE one = 1
        """,
        paused=int(paused),
        now=tx.now,
    )
