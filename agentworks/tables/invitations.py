"""One-time links: the owner's first start, and invitations. Only hashes of them are kept."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Invitation(Struct, frozen=True):
    account_name: str
    owner: int
    expires_at: int


def find(db: Snapshot, secret_hash: bytes) -> Invitation | None:
    """The invitation behind an unused link that has not run out."""
    return db.row(
        Invitation,
        """
        SELECT account_name, owner, expires_at
        FROM invitations
        WHERE secret_hash = :secret_hash
          AND expires_at > :now
        """,
        secret_hash=secret_hash,
        now=db.now,
    )


def add(
    tx: Transaction, secret_hash: bytes, account_name: str, expires_at: int, *, for_owner: bool
) -> None:
    tx.run(
        """
        INSERT INTO invitations (secret_hash, account_name, owner, created_at, expires_at)
        VALUES (:secret_hash, :account_name, :owner, :now, :expires_at)
        """,
        secret_hash=secret_hash,
        account_name=account_name,
        owner=int(for_owner),
        now=tx.now,
        expires_at=expires_at,
    )


def end(tx: Transaction, secret_hash: bytes) -> None:
    tx.run("DELETE FROM invitations WHERE secret_hash = :secret_hash", secret_hash=secret_hash)


def end_of_owner(tx: Transaction) -> None:
    """Older links of the owner stop working."""
    tx.run("DELETE FROM invitations WHERE owner = 1")


def end_of_name(tx: Transaction, account_name: str) -> None:
    """Older invitations of this name stop working: the newest link counts."""
    tx.run(
        """
        DELETE FROM invitations
        WHERE lower(account_name) = :name_key
          AND owner = 0
        """,
        name_key=account_name.lower(),
    )


def forget(tx: Transaction, before: int, limit: int) -> int:
    """Drop up to `limit` invitations that ran out before `before`. Returns how many."""
    return tx.changed(
        """
        DELETE FROM invitations
        WHERE secret_hash IN (
            SELECT secret_hash FROM invitations WHERE expires_at < :before LIMIT :limit
        )
        """,
        before=before,
        limit=limit,
    )
