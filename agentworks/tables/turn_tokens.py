"""Turn tokens: the credential of each running turn, and whose access it stands for."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Acting(Struct, frozen=True):
    """A running turn, its agent, and the launch account and connection behind it."""

    turn_id: str
    chat_id: str
    call_id: str | None
    agent_id: str
    agent_name: str
    caller_kind: str
    replies_only: int
    account_id: str
    connection_id: str | None


class Standing(Struct, frozen=True):
    """What an account is to an agent: who owns the agent, and the account's own role on it."""

    agent_account_id: str
    role: str | None


def by_secret(db: Snapshot, secret_hash: bytes) -> Acting | None:
    """The turn behind a token: none, once it has settled."""
    return db.row(
        Acting,
        """
        SELECT turns.turn_id, turns.chat_id, turns.call_id, agents.agent_id,
               agents.name AS agent_name, turn_tokens.caller_kind, turn_tokens.replies_only,
               turns.account_id, turns.connection_id
        FROM turn_tokens
        JOIN turns ON turns.turn_id = turn_tokens.turn_id
        JOIN chats ON chats.chat_id = turns.chat_id
        JOIN agents ON agents.agent_id = chats.agent_id
        WHERE turn_tokens.secret_hash = :secret_hash
          AND turns.state = 'running'
        """,
        secret_hash=secret_hash,
    )


def standing(db: Snapshot, agent_id: str, account_id: str) -> Standing | None:
    """None when there is no such agent."""
    return db.row(
        Standing,
        """
        SELECT account_id AS agent_account_id,
               (
                   SELECT role
                   FROM members
                   WHERE members.agent_id = agents.agent_id
                     AND members.account_id = :account_id
               ) AS role
        FROM agents
        WHERE agent_id = :agent_id
        """,
        agent_id=agent_id,
        account_id=account_id,
    )


def add(
    tx: Transaction, secret_hash: bytes, turn_id: str, caller_kind: str, replies_only: bool
) -> None:
    tx.run(
        """
        INSERT INTO turn_tokens (secret_hash, turn_id, caller_kind, replies_only, made_at)
        VALUES (:secret_hash, :turn_id, :caller_kind, :replies_only, :now)
        """,
        secret_hash=secret_hash,
        turn_id=turn_id,
        caller_kind=caller_kind,
        replies_only=int(replies_only),
        now=tx.now,
    )


def remove(tx: Transaction, turn_id: str) -> None:
    """From now on its secret opens nothing."""
    tx.run("DELETE FROM turn_tokens WHERE turn_id = :turn_id", turn_id=turn_id)


def remove_all(tx: Transaction) -> int:
    """At start-up, when nothing runs. Returns how many there were."""
    return tx.changed("DELETE FROM turn_tokens")
