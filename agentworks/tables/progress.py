"""Progress lines: what a running call has told its caller, the newest of them."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot


class Line(Struct, frozen=True):
    number: int
    at: int
    line: str


def newest(db: Snapshot, call_id: str, limit: int) -> list[Line]:
    """The last lines, oldest of them first."""
    found = db.rows(
        Line,
        """
        SELECT number, at, line
        FROM call_progress
        WHERE call_id = :call_id
        ORDER BY number DESC
        LIMIT :limit
        """,
        call_id=call_id,
        limit=limit,
    )
    return found[::-1]
