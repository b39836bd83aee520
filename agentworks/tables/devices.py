"""Devices: programs that wait to be let in (RFC 8628), and what became of their asking."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Device(Struct, frozen=True):
    """`polled_at` is the last poll while it waits, then the moment its tokens were fetched."""

    secret_hash: bytes
    user_code: str
    label: str
    scopes: str
    state: str
    connection_id: str | None
    asked_at: int
    expires_at: int
    polled_at: int | None


def by_secret(db: Snapshot, secret_hash: bytes) -> Device | None:
    return db.row(
        Device,
        """
        SELECT secret_hash, user_code, label, scopes, state, connection_id,
               asked_at, expires_at, polled_at
        FROM devices
        WHERE secret_hash = :secret_hash
        """,
        secret_hash=secret_hash,
    )


def by_user_code(db: Snapshot, user_code: str) -> Device | None:
    return db.row(
        Device,
        """
        SELECT secret_hash, user_code, label, scopes, state, connection_id,
               asked_at, expires_at, polled_at
        FROM devices
        WHERE user_code = :user_code
        """,
        user_code=user_code,
    )


def free_again_at(db: Snapshot, most: int) -> int | None:
    """When fewer than `most` programs will be waiting, if nobody answers; None if that is now."""
    moment: int | None = db.value(
        """
        SELECT expires_at
        FROM devices
        WHERE expires_at > :now
          AND state = 'pending'
        ORDER BY expires_at DESC
        LIMIT 1 OFFSET :most - 1
        """,
        now=db.now,
        most=most,
    )
    return moment


def add(
    tx: Transaction, secret_hash: bytes, user_code: str, label: str, scopes: str, expires_at: int
) -> None:
    tx.run(
        """
        INSERT INTO devices (secret_hash, user_code, label, scopes, asked_at, expires_at)
        VALUES (:secret_hash, :user_code, :label, :scopes, :now, :expires_at)
        """,
        secret_hash=secret_hash,
        user_code=user_code,
        label=label,
        scopes=scopes,
        now=tx.now,
        expires_at=expires_at,
    )


def note_poll(tx: Transaction, secret_hash: bytes) -> None:
    tx.run(
        "UPDATE devices SET polled_at = :now WHERE secret_hash = :secret_hash",
        secret_hash=secret_hash,
        now=tx.now,
    )


def approve(tx: Transaction, secret_hash: bytes, connection_id: str) -> None:
    tx.run(
        """
        UPDATE devices
        SET state = 'approved', connection_id = :connection_id
        WHERE secret_hash = :secret_hash
        """,
        secret_hash=secret_hash,
        connection_id=connection_id,
    )


def deny(tx: Transaction, secret_hash: bytes) -> None:
    tx.run(
        "UPDATE devices SET state = 'denied' WHERE secret_hash = :secret_hash",
        secret_hash=secret_hash,
    )


def collect(tx: Transaction, secret_hash: bytes) -> None:
    tx.run(
        """
        UPDATE devices
        SET state = 'collected', polled_at = :now
        WHERE secret_hash = :secret_hash
        """,
        secret_hash=secret_hash,
        now=tx.now,
    )


def forget(tx: Transaction, before: int, limit: int) -> int:
    """Drop up to `limit` devices whose code ran out before `before`. Returns how many."""
    return tx.changed(
        """
        DELETE FROM devices
        WHERE secret_hash IN (
            SELECT secret_hash FROM devices WHERE expires_at < :before LIMIT :limit
        )
        """,
        before=before,
        limit=limit,
    )
