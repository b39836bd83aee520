"""Messages: stored once, never changed; only how far their delivery has come moves on."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Stored(Struct, frozen=True):
    """A message as it lies in its conversation."""

    place: int  # the number the reader's cursor counts: a sequence, or a mailbox number
    message_id: str
    conversation_id: str
    sequence: int
    sender: str
    sent_at: int
    delivery: str
    body: str


class Oldest(Struct, frozen=True):
    sequence: int
    delivery: str
    registration_id: str | None
    number: int | None


class Newest(Struct, frozen=True):
    registration_id: str
    number: int


def add(
    tx: Transaction,
    conversation_id: str,
    sequence: int,
    by_opener: bool,
    registration_id: str | None,
    number: int | None,
    sent_by: str,
    body: str,
) -> str:
    """Store one message under numbers already drawn; returns its id."""
    message_id = tx.new_id("msg")
    tx.run(
        """
        INSERT INTO messages
            (conversation_id, sequence, message_id, by_opener, registration_id, number,
             sent_by, sent_at, body)
        VALUES
            (:conversation_id, :sequence, :message_id, :by_opener, :registration_id, :number,
             :sent_by, :now, :body)
        """,
        conversation_id=conversation_id,
        sequence=sequence,
        message_id=message_id,
        by_opener=int(by_opener),
        registration_id=registration_id,
        number=number,
        sent_by=sent_by,
        now=tx.now,
        body=body,
    )
    return message_id


def of_inbox(
    db: Snapshot, conversation_id: str, by_opener: bool, sender: str, after: int, limit: int
) -> list[Stored]:
    """What one end, `sender`, has said in a conversation past a sequence; oldest first."""
    return db.rows(
        Stored,
        """
        SELECT sequence AS place, message_id, conversation_id, sequence, :sender AS sender,
               sent_at, delivery, body
        FROM messages
        WHERE conversation_id = :conversation_id
          AND sequence > :after
          AND by_opener = :by_opener
        ORDER BY sequence
        LIMIT :limit
        """,
        conversation_id=conversation_id,
        by_opener=int(by_opener),
        sender=sender,
        after=after,
        limit=limit,
    )


def of_mailbox(db: Snapshot, registration_id: str, after: int, limit: int) -> list[Stored]:
    """What was sent to a named agent in any conversation, past a mailbox number, oldest first."""
    return db.rows(
        Stored,
        """
        SELECT number AS place, message_id, conversation_id, sequence,
               (
                   SELECT CASE WHEN messages.by_opener = 1 THEN opener_name ELSE peer_name END
                   FROM conversations
                   WHERE conversations.conversation_id = messages.conversation_id
               ) AS sender,
               sent_at, delivery, body
        FROM messages
        WHERE registration_id = :registration_id
          AND number > :after
        ORDER BY number
        LIMIT :limit
        """,
        registration_id=registration_id,
        after=after,
        limit=limit,
    )


def sent_at_from_end(db: Snapshot, conversation_id: str, place: int) -> int | None:
    """When the message was sent that has `place` newer ones after it; None if there is none."""
    found = db.value(
        """
        SELECT sent_at
        FROM messages
        WHERE conversation_id = :conversation_id
        ORDER BY sequence DESC
        LIMIT 1 OFFSET :place
        """,
        conversation_id=conversation_id,
        place=place,
    )
    return None if found is None else int(found)


def oldest(db: Snapshot, conversation_id: str) -> Oldest | None:
    return db.row(
        Oldest,
        """
        SELECT sequence, delivery, registration_id, number
        FROM messages
        WHERE conversation_id = :conversation_id
        ORDER BY sequence
        LIMIT 1
        """,
        conversation_id=conversation_id,
    )


def remove(tx: Transaction, conversation_id: str, sequence: int) -> None:
    tx.run(
        """
        DELETE FROM messages
        WHERE conversation_id = :conversation_id
          AND sequence = :sequence
        """,
        conversation_id=conversation_id,
        sequence=sequence,
    )


def newest_by_mailbox(db: Snapshot, conversation_id: str) -> list[Newest]:
    """For each mailbox a conversation has reached, the highest number it holds of it."""
    return db.rows(
        Newest,
        """
        SELECT registration_id, max(number) AS number
        FROM messages
        WHERE conversation_id = :conversation_id
          AND registration_id IS NOT NULL
        GROUP BY registration_id
        """,
        conversation_id=conversation_id,
    )
