"""Connections: revocable grants by which clients act for an account, and the tokens they hold."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Holder(Struct, frozen=True):
    """The live connection behind a token."""

    connection_id: str
    account_id: str
    label: str
    scopes: str
    targets: str | None


class Connection(Struct, frozen=True):
    connection_id: str
    account_id: str
    label: str
    scopes: str
    targets: str | None
    created_at: int
    last_used_at: int | None
    expires_at: int | None
    revoked_at: int | None


def by_token(db: Snapshot, secret_hash: bytes) -> Holder | None:
    """The connection behind this token: none, if either has ended.

    Asked at every call, and so written without a join: one costs ten times as much here.
    """
    return db.row(
        Holder,
        """
        SELECT connection_id, account_id, label, scopes, targets
        FROM connections
        WHERE connection_id = (
                  SELECT connection_id
                  FROM tokens
                  WHERE secret_hash = :secret_hash
                    AND kind <> 'refresh'
                    AND (expires_at IS NULL OR expires_at > :now)
              )
          AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > :now)
        """,
        secret_hash=secret_hash,
        now=db.now,
    )


def find(db: Snapshot, account_id: str, connection_id: str) -> Connection | None:
    return db.row(
        Connection,
        """
        SELECT connection_id, account_id, label, scopes, targets,
               created_at, last_used_at, expires_at, revoked_at
        FROM connections
        WHERE connection_id = :connection_id
          AND account_id = :account_id     -- knowing an id grants nothing
        """,
        connection_id=connection_id,
        account_id=account_id,
    )


def of_account(db: Snapshot, account_id: str) -> list[Connection]:
    """Newest first."""
    return db.rows(
        Connection,
        """
        SELECT connection_id, account_id, label, scopes, targets,
               created_at, last_used_at, expires_at, revoked_at
        FROM connections
        WHERE account_id = :account_id
        ORDER BY created_at DESC, connection_id DESC
        """,
        account_id=account_id,
    )


def is_live(db: Snapshot, account_id: str, connection_id: str) -> bool:
    return bool(
        db.value(
            """
            SELECT count(*)
            FROM connections
            WHERE connection_id = :connection_id
              AND account_id = :account_id
              AND revoked_at IS NULL
              AND (expires_at IS NULL OR expires_at > :now)
            """,
            connection_id=connection_id,
            account_id=account_id,
            now=db.now,
        )
    )


def touch(tx: Transaction, connection_id: str) -> None:
    """Note that it has just been used."""
    tx.run(
        "UPDATE connections SET last_used_at = :now WHERE connection_id = :connection_id",
        connection_id=connection_id,
        now=tx.now,
    )


class Grant(Struct, frozen=True):
    """A live connection of a live account, as its client is told of it."""

    connection_id: str
    account_name: str
    label: str
    scopes: str
    expires_at: int | None


class Owned(Struct, frozen=True):
    """A connection with its account's name."""

    connection_id: str
    account_id: str
    account_name: str
    label: str
    scopes: str
    targets: str | None
    created_at: int
    last_used_at: int | None
    expires_at: int | None
    revoked_at: int | None


def live(db: Snapshot, connection_id: str) -> Grant | None:
    """The connection, if neither it nor its account has ended."""
    return db.row(
        Grant,
        """
        SELECT connections.connection_id, accounts.name AS account_name, connections.label,
               connections.scopes, connections.expires_at
        FROM connections
        JOIN accounts ON accounts.account_id = connections.account_id
        WHERE connections.connection_id = :connection_id
          AND connections.revoked_at IS NULL
          AND (connections.expires_at IS NULL OR connections.expires_at > :now)
          AND accounts.disabled_at IS NULL
        """,
        connection_id=connection_id,
        now=db.now,
    )


def knows(db: Snapshot, connection_id: str) -> bool:
    """True when some account has, or had, a connection of this id."""
    return bool(
        db.value(
            "SELECT count(*) FROM connections WHERE connection_id = :connection_id",
            connection_id=connection_id,
        )
    )


def every(db: Snapshot) -> list[Owned]:
    """Those of all accounts, newest first: for the server's own machine."""
    return db.rows(
        Owned,
        """
        SELECT connections.connection_id, connections.account_id, accounts.name AS account_name,
               connections.label, connections.scopes, connections.targets,
               connections.created_at, connections.last_used_at, connections.expires_at,
               connections.revoked_at
        FROM connections
        JOIN accounts ON accounts.account_id = connections.account_id
        ORDER BY connections.created_at DESC, connections.connection_id DESC
        """,
    )


def count_live(db: Snapshot, account_id: str) -> int:
    return int(
        db.value(
            """
            SELECT count(*)
            FROM connections
            WHERE account_id = :account_id
              AND revoked_at IS NULL
              AND (expires_at IS NULL OR expires_at > :now)
            """,
            account_id=account_id,
            now=db.now,
        )
    )


def add(
    tx: Transaction,
    account_id: str,
    label: str,
    scopes: str,
    targets: str | None,
    expires_at: int | None,
) -> str:
    """Returns its id."""
    connection_id = tx.new_id("conn")
    tx.run(
        """
        INSERT INTO connections (connection_id, account_id, label, scopes, targets,
                                 created_at, expires_at)
        VALUES (:connection_id, :account_id, :label, :scopes, :targets, :now, :expires_at)
        """,
        connection_id=connection_id,
        account_id=account_id,
        label=label,
        scopes=scopes,
        targets=targets,
        now=tx.now,
        expires_at=expires_at,
    )
    return connection_id


def change(
    tx: Transaction,
    connection_id: str,
    label: str,
    scopes: str,
    targets: str | None,
    expires_at: int | None,
) -> None:
    tx.run(
        """
        UPDATE connections
        SET label = :label, scopes = :scopes, targets = :targets, expires_at = :expires_at
        WHERE connection_id = :connection_id
        """,
        connection_id=connection_id,
        label=label,
        scopes=scopes,
        targets=targets,
        expires_at=expires_at,
    )


def revoke(tx: Transaction, connection_id: str) -> None:
    """End it; the first time counts. Its tokens go by tokens.end_all."""
    tx.run(
        """
        UPDATE connections
        SET revoked_at = :now
        WHERE connection_id = :connection_id
          AND revoked_at IS NULL
        """,
        connection_id=connection_id,
        now=tx.now,
    )
