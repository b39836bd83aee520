"""Accounts: who owns what, and with which password a person comes in."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Account(Struct, frozen=True):
    account_id: str
    name: str
    owner: int
    password_hash: str | None
    created_at: int
    disabled_at: int | None


def by_name(db: Snapshot, name: str) -> Account | None:
    """Names are compared without case."""
    return db.row(
        Account,
        """
        SELECT account_id, name, owner, password_hash, created_at, disabled_at
        FROM accounts
        WHERE name_key = :name_key
        """,
        name_key=name.lower(),
    )


def by_id(db: Snapshot, account_id: str) -> Account | None:
    return db.row(
        Account,
        """
        SELECT account_id, name, owner, password_hash, created_at, disabled_at
        FROM accounts
        WHERE account_id = :account_id
        """,
        account_id=account_id,
    )


def owner(db: Snapshot) -> Account | None:
    """The account that was made at first start; there is only ever one."""
    return db.row(
        Account,
        """
        SELECT account_id, name, owner, password_hash, created_at, disabled_at
        FROM accounts
        WHERE owner = 1
        """,
    )


def every(db: Snapshot) -> list[Account]:
    """Oldest first."""
    return db.rows(
        Account,
        """
        SELECT account_id, name, owner, password_hash, created_at, disabled_at
        FROM accounts
        ORDER BY created_at, account_id
        """,
    )


def add(tx: Transaction, name: str, password_hash: str | None, *, is_owner: bool) -> Account:
    account = Account(tx.new_id("acc"), name, int(is_owner), password_hash, tx.now, None)
    tx.run(
        """
        INSERT INTO accounts (account_id, name, name_key, owner, password_hash, created_at)
        VALUES (:account_id, :name, :name_key, :owner, :password_hash, :now)
        """,
        account_id=account.account_id,
        name=name,
        name_key=name.lower(),
        owner=account.owner,
        password_hash=password_hash,
        now=tx.now,
    )
    return account


def settle_owner(tx: Transaction, name: str, password_hash: str) -> Account | None:
    """Give the owner's account its name and first password; None if it has a password already."""
    return tx.row(
        Account,
        """
        UPDATE accounts
        SET name = :name, name_key = :name_key, password_hash = :password_hash
        WHERE owner = 1
          AND password_hash IS NULL
        RETURNING account_id, name, owner, password_hash, created_at, disabled_at
        """,
        name=name,
        name_key=name.lower(),
        password_hash=password_hash,
    )


def set_password(tx: Transaction, account_id: str, password_hash: str) -> None:
    tx.run(
        "UPDATE accounts SET password_hash = :password_hash WHERE account_id = :account_id",
        account_id=account_id,
        password_hash=password_hash,
    )


def disable(tx: Transaction, account_id: str) -> None:
    """Shut it out; the first time counts."""
    tx.run(
        """
        UPDATE accounts
        SET disabled_at = :now
        WHERE account_id = :account_id
          AND disabled_at IS NULL
        """,
        account_id=account_id,
        now=tx.now,
    )
