"""Deliveries: how far messages to a Crew or workflow have come on their way into its turns."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Pending(Struct, frozen=True):
    """A message that waits for a turn of its receiver."""

    sequence: int
    message_id: str
    sent_by: str | None
    sent_at: int
    body: str


class Lane(Struct, frozen=True):
    """The conversation behind a chat of direct messages, seen from the agent whose chat it is.

    `by_opener` is 1 when the other end, `sender`, opened it.
    """

    conversation_id: str
    account_id: str
    by_opener: int
    sender: str
    sender_agent_id: str | None


def lane(db: Snapshot, conversation_id: str, agent_id: str) -> Lane | None:
    """None when the conversation is gone, or this agent is no end of it."""
    return db.row(
        Lane,
        """
        SELECT conversation_id, account_id,
               CASE WHEN peer_agent_id = :agent_id THEN 1 ELSE 0 END AS by_opener,
               CASE WHEN peer_agent_id = :agent_id THEN opener_name ELSE peer_name END AS sender,
               CASE WHEN peer_agent_id = :agent_id THEN opener_agent_id ELSE peer_agent_id
               END AS sender_agent_id
        FROM conversations
        WHERE conversation_id = :conversation_id
          AND (peer_agent_id = :agent_id OR opener_agent_id = :agent_id)
        """,
        conversation_id=conversation_id,
        agent_id=agent_id,
    )


def pending(db: Snapshot, conversation_id: str, by_opener: int, limit: int) -> list[Pending]:
    """What one end has said and no turn of the other has taken up yet, in order."""
    return db.rows(
        Pending,
        """
        SELECT sequence, message_id, sent_by, sent_at, body
        FROM messages
        WHERE conversation_id = :conversation_id
          AND by_opener = :by_opener
          AND delivery = 'pending'
        ORDER BY sequence
        LIMIT :limit
        """,
        conversation_id=conversation_id,
        by_opener=by_opener,
        limit=limit,
    )


def dispatch(tx: Transaction, conversation_id: str, sequence: int, turn_id: str) -> None:
    """A turn is being started with this message."""
    tx.run(
        """
        UPDATE messages
        SET delivery = 'dispatching', turn_id = :turn_id
        WHERE conversation_id = :conversation_id
          AND sequence = :sequence
          AND delivery = 'pending'
        """,
        conversation_id=conversation_id,
        sequence=sequence,
        turn_id=turn_id,
    )


def refuse(tx: Transaction, conversation_id: str, sequence: int) -> None:
    """It cannot be delivered any more: its receiver or its sender's access is gone."""
    tx.run(
        """
        UPDATE messages
        SET delivery = 'undeliverable'
        WHERE conversation_id = :conversation_id
          AND sequence = :sequence
          AND delivery = 'pending'
        """,
        conversation_id=conversation_id,
        sequence=sequence,
    )


def move(tx: Transaction, conversation_id: str, turn_id: str, was: str, becomes: str) -> int:
    """Move on all messages of a turn that stand at `was`. Returns how many."""
    return tx.changed(
        """
        UPDATE messages
        SET delivery = :becomes
        WHERE conversation_id = :conversation_id
          AND turn_id = :turn_id
          AND delivery = :was
        """,
        conversation_id=conversation_id,
        turn_id=turn_id,
        was=was,
        becomes=becomes,
    )
