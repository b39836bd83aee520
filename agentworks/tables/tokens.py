"""Tokens: the secrets with which a connection's client proves itself. Only hashes are kept."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Token(Struct, frozen=True):
    connection_id: str
    kind: str
    expires_at: int | None
    spent_at: int | None


def find(db: Snapshot, secret_hash: bytes) -> Token | None:
    """A token as it was given out, whether or not it still works."""
    return db.row(
        Token,
        """
        SELECT connection_id, kind, expires_at, spent_at
        FROM tokens
        WHERE secret_hash = :secret_hash
        """,
        secret_hash=secret_hash,
    )


def add(
    tx: Transaction, secret_hash: bytes, connection_id: str, kind: str, expires_at: int | None
) -> None:
    tx.run(
        """
        INSERT INTO tokens (secret_hash, connection_id, kind, expires_at)
        VALUES (:secret_hash, :connection_id, :kind, :expires_at)
        """,
        secret_hash=secret_hash,
        connection_id=connection_id,
        kind=kind,
        expires_at=expires_at,
    )


def spend(tx: Transaction, secret_hash: bytes) -> None:
    tx.run(
        "UPDATE tokens SET spent_at = :now WHERE secret_hash = :secret_hash",
        secret_hash=secret_hash,
        now=tx.now,
    )


def end_all(tx: Transaction, connection_id: str) -> None:
    tx.run("DELETE FROM tokens WHERE connection_id = :connection_id", connection_id=connection_id)


def forget(tx: Transaction, before: int, limit: int) -> int:
    """Drop up to `limit` tokens that ran out before `before`. Returns how many."""
    return tx.changed(
        """
        DELETE FROM tokens
        WHERE secret_hash IN (
            SELECT secret_hash FROM tokens WHERE expires_at < :before LIMIT :limit
        )
        """,
        before=before,
        limit=limit,
    )
