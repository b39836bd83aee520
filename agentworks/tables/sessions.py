"""Browser sessions of people."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Person(Struct, frozen=True):
    account_id: str
    account_name: str
    owner: int


def by_secret(db: Snapshot, secret_hash: bytes) -> Person | None:
    """The live account behind a live session."""
    return db.row(
        Person,
        """
        SELECT accounts.account_id, accounts.name AS account_name, accounts.owner
        FROM sessions
        JOIN accounts ON accounts.account_id = sessions.account_id
        WHERE sessions.secret_hash = :secret_hash
          AND sessions.expires_at > :now
          AND accounts.disabled_at IS NULL
        """,
        secret_hash=secret_hash,
        now=db.now,
    )


def begin(tx: Transaction, secret_hash: bytes, account_id: str, expires_at: int) -> None:
    tx.run(
        """
        INSERT INTO sessions (secret_hash, account_id, created_at, expires_at)
        VALUES (:secret_hash, :account_id, :now, :expires_at)
        """,
        secret_hash=secret_hash,
        account_id=account_id,
        now=tx.now,
        expires_at=expires_at,
    )


def end(tx: Transaction, secret_hash: bytes) -> None:
    tx.run("DELETE FROM sessions WHERE secret_hash = :secret_hash", secret_hash=secret_hash)


def end_all(tx: Transaction, account_id: str) -> None:
    tx.run("DELETE FROM sessions WHERE account_id = :account_id", account_id=account_id)


def forget(tx: Transaction, before: int, limit: int) -> int:
    """Drop up to `limit` sessions that ended before `before`. Returns how many."""
    return tx.changed(
        """
        DELETE FROM sessions
        WHERE secret_hash IN (
            SELECT secret_hash FROM sessions WHERE expires_at < :before LIMIT :limit
        )
        """,
        before=before,
        limit=limit,
    )
