"""The store itself: its epoch, which a restore raises."""

from __future__ import annotations

from agentworks.store import Snapshot


def epoch(db: Snapshot) -> int:
    return int(db.value("SELECT epoch FROM store WHERE one = 1"))
