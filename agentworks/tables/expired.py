"""Expired inboxes: that one existed and whose it was, for a while after its removal."""

from __future__ import annotations

from agentworks.store import Snapshot, Transaction


def knows(db: Snapshot, conversation_id: str, account_id: str, since: int) -> bool:
    """True when this account's inbox was removed after `since`."""
    return bool(
        db.value(
            """
            SELECT count(*)
            FROM expired_inboxes
            WHERE conversation_id = :conversation_id
              AND account_id = :account_id     -- others get the answer of an unknown id
              AND expired_at > :since
            """,
            conversation_id=conversation_id,
            account_id=account_id,
            since=since,
        )
    )


def add(tx: Transaction, conversation_id: str, account_id: str) -> None:
    tx.run(
        """
        INSERT INTO expired_inboxes (conversation_id, account_id, expired_at)
        VALUES (:conversation_id, :account_id, :now)
        """,
        conversation_id=conversation_id,
        account_id=account_id,
        now=tx.now,
    )


def forget(tx: Transaction, before: int, limit: int) -> int:
    """Drop up to `limit` entries older than `before`. Returns how many."""
    return tx.changed(
        """
        DELETE FROM expired_inboxes
        WHERE conversation_id IN (
            SELECT conversation_id
            FROM expired_inboxes
            WHERE expired_at < :before
            ORDER BY expired_at
            LIMIT :limit
        )
        """,
        before=before,
        limit=limit,
    )


def keep_newest(tx: Transaction, most: int) -> None:
    """Hold at most `most` entries: the oldest go."""
    tx.run(
        """
        DELETE FROM expired_inboxes
        WHERE conversation_id IN (
            SELECT conversation_id
            FROM expired_inboxes
            ORDER BY expired_at DESC
            LIMIT 10 OFFSET :most
        )
        """,
        most=most,
    )
