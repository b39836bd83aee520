"""Registrations: an account's named addresses, and the connections that may use each."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Registered(Struct, frozen=True):
    registration_id: str
    account_id: str
    name: str
    registered_at: int

    @property
    def address(self) -> str:
        return f"agent:{self.name}"

    @property
    def bell(self) -> str:
        """What rings when something arrives in its mailbox."""
        return f"mailbox/{self.registration_id}"


class Seen(Registered, frozen=True):
    """The same, as one connection sees it."""

    usable: int


class Mailbox(Struct, frozen=True):
    last_number: int
    removed_through: int


class Numbered(Struct, frozen=True):
    number: int


class Listed(Struct, frozen=True):
    registration_id: str
    name: str
    registered_at: int


class Permission(Struct, frozen=True):
    registration_id: str
    connection_id: str


def by_name(db: Snapshot, account_id: str, name: str) -> Registered | None:
    return db.row(
        Registered,
        """
        SELECT registration_id, account_id, name, registered_at
        FROM registrations
        WHERE account_id = :account_id
          AND name_key = :name_key
        """,
        account_id=account_id,
        name_key=name.lower(),
    )


def seen_by(db: Snapshot, registration_id: str, connection_id: str) -> Seen | None:
    """A registration, and whether this connection may use it."""
    return db.row(
        Seen,
        """
        SELECT registration_id, account_id, name, registered_at,
               EXISTS (
                   SELECT 1
                   FROM registration_connections AS allowed
                   WHERE allowed.registration_id = registrations.registration_id
                     AND allowed.connection_id = :connection_id
               ) AS usable
        FROM registrations
        WHERE registration_id = :registration_id
        """,
        registration_id=registration_id,
        connection_id=connection_id,
    )


def mailbox(db: Snapshot, registration_id: str) -> Mailbox | None:
    return db.row(
        Mailbox,
        """
        SELECT last_number, removed_through
        FROM registrations
        WHERE registration_id = :registration_id
        """,
        registration_id=registration_id,
    )


def next_number(tx: Transaction, registration_id: str) -> int | None:
    """The next place in the mailbox, or None if the registration is gone."""
    found = tx.row(
        Numbered,
        """
        UPDATE registrations
        SET last_number = last_number + 1
        WHERE registration_id = :registration_id
        RETURNING last_number AS number
        """,
        registration_id=registration_id,
    )
    return found.number if found else None


def note_removed(tx: Transaction, registration_id: str, number: int) -> None:
    """Remember that the mailbox no longer holds everything up to `number`."""
    tx.run(
        """
        UPDATE registrations
        SET removed_through = :number
        WHERE registration_id = :registration_id
          AND removed_through < :number
        """,
        registration_id=registration_id,
        number=number,
    )


def of_account(db: Snapshot, account_id: str) -> list[Listed]:
    return db.rows(
        Listed,
        """
        SELECT registration_id, name, registered_at
        FROM registrations
        WHERE account_id = :account_id
        ORDER BY name_key
        """,
        account_id=account_id,
    )


def permissions(db: Snapshot, account_id: str) -> list[Permission]:
    return db.rows(
        Permission,
        """
        SELECT allowed.registration_id, allowed.connection_id
        FROM registrations AS named
        JOIN registration_connections AS allowed ON allowed.registration_id = named.registration_id
        WHERE named.account_id = :account_id
        ORDER BY allowed.registration_id, allowed.connection_id
        """,
        account_id=account_id,
    )


def allowed(db: Snapshot, registration_id: str) -> list[str]:
    found = db.rows(
        Permission,
        """
        SELECT registration_id, connection_id
        FROM registration_connections
        WHERE registration_id = :registration_id
        ORDER BY connection_id
        """,
        registration_id=registration_id,
    )
    return [each.connection_id for each in found]


def may_use(db: Snapshot, registration_id: str, connection_id: str) -> bool:
    return bool(
        db.value(
            """
            SELECT count(*)
            FROM registration_connections
            WHERE registration_id = :registration_id
              AND connection_id = :connection_id
            """,
            registration_id=registration_id,
            connection_id=connection_id,
        )
    )


def count_of_account(db: Snapshot, account_id: str) -> int:
    return int(
        db.value(
            "SELECT count(*) FROM registrations WHERE account_id = :account_id",
            account_id=account_id,
        )
    )


def count(db: Snapshot) -> int:
    return int(db.value("SELECT count(*) FROM registrations"))


def add(tx: Transaction, account_id: str, name: str) -> Registered:
    registration_id = tx.new_id("reg")
    tx.run(
        """
        INSERT INTO registrations (registration_id, account_id, name, name_key, registered_at)
        VALUES (:registration_id, :account_id, :name, :name_key, :now)
        """,
        registration_id=registration_id,
        account_id=account_id,
        name=name,
        name_key=name.lower(),
        now=tx.now,
    )
    return Registered(registration_id, account_id, name, tx.now)


def allow(tx: Transaction, registration_id: str, connection_id: str) -> None:
    tx.run(
        """
        INSERT INTO registration_connections (registration_id, connection_id)
        VALUES (:registration_id, :connection_id)
        """,
        registration_id=registration_id,
        connection_id=connection_id,
    )


def allow_nobody(tx: Transaction, registration_id: str) -> None:
    tx.run(
        "DELETE FROM registration_connections WHERE registration_id = :registration_id",
        registration_id=registration_id,
    )


def remove(tx: Transaction, registration_id: str) -> None:
    tx.run(
        "DELETE FROM registrations WHERE registration_id = :registration_id",
        registration_id=registration_id,
    )
