"""Triggers: the fixed points of a Crew that a native crew step or a schedule binds to."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Trigger(Struct, frozen=True):
    trigger_id: str
    conversation: str


def of_agent(db: Snapshot, agent_id: str) -> list[Trigger]:
    return db.rows(
        Trigger,
        """
        SELECT trigger_id, conversation
        FROM triggers
        WHERE agent_id = :agent_id
        ORDER BY trigger_id
        """,
        agent_id=agent_id,
    )


def put(tx: Transaction, agent_id: str, trigger_id: str, conversation: str) -> None:
    tx.run(
        """
        INSERT INTO triggers (agent_id, trigger_id, conversation)
        VALUES (:agent_id, :trigger_id, :conversation)
        ON CONFLICT (agent_id, trigger_id) DO UPDATE SET conversation = excluded.conversation
        """,
        agent_id=agent_id,
        trigger_id=trigger_id,
        conversation=conversation,
    )


def remove(tx: Transaction, agent_id: str, trigger_id: str) -> None:
    tx.run(
        "DELETE FROM triggers WHERE agent_id = :agent_id AND trigger_id = :trigger_id",
        agent_id=agent_id,
        trigger_id=trigger_id,
    )
