"""Steers: what callers say into calls that go on, until a turn takes it up."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot


class Prompt(Struct, frozen=True):
    prompt: str


class Waiting(Struct, frozen=True):
    """What a caller has said into a call, and the turn that works on that call now, if any."""

    turn_id: str
    call_id: str
    prompt: str
    running_turn_id: str | None


def waiting(db: Snapshot) -> list[Waiting]:
    """What callers have said into calls that have not ended, and no turn has taken up; in order."""
    return db.rows(
        Waiting,
        """
        SELECT turn_id, call_id, prompt,
               (
                   SELECT turn_id
                   FROM turns AS running
                   WHERE running.chat_id = turns.chat_id
                     AND running.state = 'running'
                     AND running.call_id = turns.call_id
               ) AS running_turn_id
        FROM turns
        WHERE state = 'queued'
          AND cause = 'steer'
        ORDER BY queued_at, place
        LIMIT 1000
        """,
    )


def prompts_of_call(db: Snapshot, call_id: str) -> list[str]:
    """The prompts of a call's queued turns."""
    found = db.rows(
        Prompt,
        "SELECT prompt FROM turns WHERE call_id = :call_id AND state = 'queued'",
        call_id=call_id,
    )
    return [each.prompt for each in found]
