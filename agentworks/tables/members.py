"""Members: the roles an agent's owner gave other accounts on it."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Member(Struct, frozen=True):
    account_id: str
    account_name: str
    role: str


def role_of(db: Snapshot, agent_id: str, account_id: str) -> str | None:
    """The role given to that account; None for the owner, who needs none, and for strangers."""
    found = db.value(
        "SELECT role FROM members WHERE agent_id = :agent_id AND account_id = :account_id",
        agent_id=agent_id,
        account_id=account_id,
    )
    return None if found is None else str(found)


def of_agent(db: Snapshot, agent_id: str) -> list[Member]:
    """By name."""
    return db.rows(
        Member,
        """
        SELECT members.account_id, accounts.name AS account_name, members.role
        FROM members
        JOIN accounts ON accounts.account_id = members.account_id
        WHERE members.agent_id = :agent_id
        ORDER BY accounts.name_key
        """,
        agent_id=agent_id,
    )


def put(tx: Transaction, agent_id: str, account_id: str, role: str) -> None:
    """Give the role, in place of one that account has."""
    tx.run(
        """
        INSERT INTO members (agent_id, account_id, role)
        VALUES (:agent_id, :account_id, :role)
        ON CONFLICT (agent_id, account_id) DO UPDATE SET role = excluded.role
        """,
        agent_id=agent_id,
        account_id=account_id,
        role=role,
    )


def remove(tx: Transaction, agent_id: str, account_id: str) -> None:
    tx.run(
        "DELETE FROM members WHERE agent_id = :agent_id AND account_id = :account_id",
        agent_id=agent_id,
        account_id=account_id,
    )
