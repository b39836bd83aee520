"""Conversations: exactly two ends, one counter, and the inbox its opener keeps."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction

HOUR = 3_600_000  # milliseconds


class End(Struct, frozen=True):
    """One end of a conversation. `kind` is 'account' (unnamed), 'registration', or an agent's."""

    kind: str
    id: str
    name: str

    @property
    def agent_id(self) -> str | None:
        """The Crew, workflow or code agent that is there, if one is."""
        return None if self.kind in ("account", "registration") else self.id


class Conversation(Struct, frozen=True):
    conversation_id: str
    account_id: str
    opener_kind: str
    opener_id: str
    opener_name: str
    peer_kind: str
    peer_id: str
    peer_name: str
    removed_through: int
    kept: int
    active_hour: int

    @property
    def opener(self) -> End:
        return End(self.opener_kind, self.opener_id, self.opener_name)

    @property
    def peer(self) -> End:
        return End(self.peer_kind, self.peer_id, self.peer_name)

    def bell(self, to_opener: bool) -> str:
        """What rings when something arrives at one end."""
        return f"inbox/{self.conversation_id}/{'opener' if to_opener else 'peer'}"


class Raised(Struct, frozen=True):
    last_sequence: int


class Idle(Struct, frozen=True):
    conversation_id: str
    account_id: str


def find(db: Snapshot, conversation_id: str) -> Conversation | None:
    return db.row(
        Conversation,
        """
        SELECT conversation_id, account_id, opener_kind, opener_id, opener_name,
               peer_kind, peer_id, peer_name, removed_through, kept, active_hour
        FROM conversations
        WHERE conversation_id = :conversation_id
        """,
        conversation_id=conversation_id,
    )


def between(db: Snapshot, pair: str) -> Conversation | None:
    """The conversation that continues between two ends. `pair` comes from `pair_of`."""
    return db.row(
        Conversation,
        """
        SELECT conversation_id, account_id, opener_kind, opener_id, opener_name,
               peer_kind, peer_id, peer_name, removed_through, kept, active_hour
        FROM conversations
        WHERE pair = :pair
        """,
        pair=pair,
    )


def pair_of(one: End, other: End) -> str | None:
    """The key under which two ends continue; None when an end opens a new inbox each time."""
    if "account" in (one.kind, other.kind):
        return None
    return " ".join(sorted((one.id, other.id)))


def begin(
    tx: Transaction, account_id: str, opener: End, peer: End, pair: str | None = None
) -> Conversation:
    """`pair` is the key it continues under, where that is more than its two ends."""
    conversation_id = tx.new_id("inbox")
    tx.run(
        """
        INSERT INTO conversations
            (conversation_id, account_id, opener_kind, opener_id, opener_name,
             peer_kind, peer_id, peer_name, pair, opened_at, active_at, active_hour,
             opener_agent_id, peer_agent_id)
        VALUES
            (:conversation_id, :account_id, :opener_kind, :opener_id, :opener_name,
             :peer_kind, :peer_id, :peer_name, :pair, :now, :now, :hour,
             :opener_agent_id, :peer_agent_id)
        """,
        conversation_id=conversation_id,
        account_id=account_id,
        opener_kind=opener.kind,
        opener_id=opener.id,
        opener_name=opener.name,
        peer_kind=peer.kind,
        peer_id=peer.id,
        peer_name=peer.name,
        pair=pair or pair_of(opener, peer),
        now=tx.now,
        hour=tx.now // HOUR,
        opener_agent_id=opener.agent_id,
        peer_agent_id=peer.agent_id,
    )
    return Conversation(
        conversation_id,
        account_id,
        opener.kind,
        opener.id,
        opener.name,
        peer.kind,
        peer.id,
        peer.name,
        0,
        0,
        tx.now // HOUR,
    )


def next_sequence(tx: Transaction, conversation_id: str) -> int:
    """Raise the counter for one more message, which it now holds."""
    raised = tx.row(
        Raised,
        """
        UPDATE conversations
        SET last_sequence = last_sequence + 1, kept = kept + 1, active_at = :now
        WHERE conversation_id = :conversation_id
        RETURNING last_sequence
        """,
        conversation_id=conversation_id,
        now=tx.now,
    )
    assert raised is not None, "a sequence is drawn only for a conversation just found"
    return raised.last_sequence


def note_hour(tx: Transaction, conversation_id: str) -> None:
    """Move it in the order of activity: needed once an hour, and not at every message."""
    tx.run(
        """
        UPDATE conversations
        SET active_hour = :hour
        WHERE conversation_id = :conversation_id
        """,
        conversation_id=conversation_id,
        hour=tx.now // HOUR,
    )


def note_removed(tx: Transaction, conversation_id: str, sequence: int) -> None:
    """One message fewer: everything up to `sequence` is gone."""
    tx.run(
        """
        UPDATE conversations
        SET kept = kept - 1, removed_through = :sequence
        WHERE conversation_id = :conversation_id
        """,
        conversation_id=conversation_id,
        sequence=sequence,
    )


def count_of_account(db: Snapshot, account_id: str, limit: int) -> int:
    """How many it has opened; counting stops at `limit`."""
    return int(
        db.value(
            """
            SELECT count(*)
            FROM (
                SELECT 1 FROM conversations WHERE account_id = :account_id LIMIT :limit
            ) AS opened
            """,
            account_id=account_id,
            limit=limit,
        )
    )


def count(db: Snapshot, limit: int) -> int:
    """How many the store holds; counting stops at `limit`."""
    return int(
        db.value(
            "SELECT count(*) FROM (SELECT 1 FROM conversations LIMIT :limit) AS held",
            limit=limit,
        )
    )


def idle_since(db: Snapshot, before: int, limit: int) -> list[Idle]:
    """The longest idle first; those with a message under way are protected.

    `before` is in milliseconds.
    """
    return db.rows(
        Idle,
        """
        SELECT conversation_id, account_id
        FROM conversations
        WHERE active_hour <= :hour
          AND active_at < :before
          AND conversation_id NOT IN (
              SELECT conversation_id
              FROM messages
              WHERE delivery IN ('pending', 'dispatching')
          )
        ORDER BY active_hour, active_at
        LIMIT :limit
        """,
        hour=before // HOUR,
        before=before,
        limit=limit,
    )


def idlest_of_account(db: Snapshot, account_id: str) -> list[Idle]:
    """The account's longest idle conversation that may be removed, if any."""
    return db.rows(
        Idle,
        """
        SELECT conversation_id, account_id
        FROM conversations
        WHERE account_id = :account_id
          AND conversation_id NOT IN (
              SELECT conversation_id
              FROM messages
              WHERE delivery IN ('pending', 'dispatching')
          )
        ORDER BY active_at
        LIMIT 1
        """,
        account_id=account_id,
    )


def remove(tx: Transaction, conversation_id: str) -> None:
    """Its messages go with it."""
    tx.run(
        "DELETE FROM conversations WHERE conversation_id = :conversation_id",
        conversation_id=conversation_id,
    )
