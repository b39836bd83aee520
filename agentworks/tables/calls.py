"""Calls: one accepted ask or use of a function each, as it is accepted and as it may be seen.

What happens to one while it runs is `executions`' to write: whatever a caller can see of a call
raises its revision and rings its bell.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Accepted(Struct, frozen=True, kw_only=True):
    """A call as it is accepted; the fields are those of schema.sql. Texts of JSON are JSON."""

    call_id: str
    agent_id: str
    owner_id: str
    kind: str
    function: str
    chat_id: str
    account_id: str
    connection_id: str | None
    caller_kind: str
    caller_id: str
    caller_name: str
    caller_chat_id: str | None
    parent_call_id: str | None
    root_call_id: str | None
    chain: str
    args: str | None = None
    result_schema: str | None = None
    message: str | None = None
    inbox_id: str | None = None
    notify_chat_id: str | None = None
    holds_slot: bool


class Call(Struct, frozen=True):
    """What may be shown of a call, and what decides to whom."""

    call_id: str
    agent_id: str
    target: str  # the agent's name
    kind: str
    function: str
    chat_id: str
    account_id: str
    caller_id: str
    caller_name: str
    caller_chat_id: str | None
    inbox_id: str | None
    state: str
    revision: int
    activity: str
    accepted_at: int
    started_at: int | None
    sign_at: int
    settled_at: int | None
    answer: str | None
    result: str | None
    result_file: str | None
    partial: str | None
    reason: str | None
    files: str | None
    files_expired: int

    @property
    def settled(self) -> bool:
        return self.state != "working"

    @property
    def final(self) -> bool:
        """Whether nothing about it can change any more."""
        return self.state not in ("working", "timed_out")


class Held(Struct, frozen=True):
    """A call that takes a slot of its agent: something of it may be alive."""

    call_id: str
    function: str
    account_id: str
    caller_chat_id: str | None
    since: int


class Steered(Struct, frozen=True):
    queued_at: int


class Link(Struct, frozen=True):
    """A call's place in its chain. `chain` is a JSON list of agent ids."""

    root_call_id: str
    chain: str
    chain_calls: int


def bell(call_id: str) -> str:
    """What rings when anything changes that may be seen of a call."""
    return f"call/{call_id}"


def add(tx: Transaction, call: Accepted) -> None:
    tx.run(
        """
        INSERT INTO calls
            (call_id, agent_id, owner_id, kind, function, chat_id, account_id, connection_id,
             caller_kind, caller_id, caller_name, caller_chat_id, parent_call_id, root_call_id,
             chain, args, result_schema, message, inbox_id, notify_chat_id, holds_slot,
             accepted_at, sign_at)
        VALUES
            (:call_id, :agent_id, :owner_id, :kind, :function, :chat_id, :account_id,
             :connection_id, :caller_kind, :caller_id, :caller_name, :caller_chat_id,
             :parent_call_id, :root_call_id, :chain, :args, :result_schema, :message, :inbox_id,
             :notify_chat_id, :holds_slot, :now, :now)
        """,
        **msgspec.structs.asdict(call),
        now=tx.now,
    )


def find(db: Snapshot, call_id: str) -> Call | None:
    return db.row(
        Call,
        """
        SELECT call_id, agent_id,
               (SELECT name FROM agents WHERE agents.agent_id = calls.agent_id) AS target,
               kind, function, chat_id, account_id, caller_id, caller_name, caller_chat_id,
               inbox_id, state, revision, activity, accepted_at, started_at, sign_at, settled_at,
               answer, result, result_file, partial, reason, files, files_expired
        FROM calls
        WHERE call_id = :call_id
        """,
        call_id=call_id,
    )


def holding(db: Snapshot, agent_id: str) -> list[Held]:
    """The calls that take an agent's slots, in no order."""
    return db.rows(
        Held,
        """
        SELECT call_id, function, account_id, caller_chat_id,
               coalesce(started_at, accepted_at) AS since
        FROM calls
        WHERE agent_id = :agent_id
          AND holds_slot = 1
        """,
        agent_id=agent_id,
    )


# ── chains ───────────────────────────────────────────────────────────────────────────────────


def link(db: Snapshot, call_id: str) -> Link | None:
    """Its first call, the agents from the first caller on, and how many calls there are by now."""
    return db.row(
        Link,
        """
        SELECT coalesce(root_call_id, call_id) AS root_call_id, chain,
               (
                   SELECT first.chain_calls
                   FROM calls AS first
                   WHERE first.call_id = coalesce(calls.root_call_id, calls.call_id)
               ) AS chain_calls
        FROM calls
        WHERE call_id = :call_id
        """,
        call_id=call_id,
    )


def lengthen(tx: Transaction, root_call_id: str) -> None:
    """One call more in a chain; its first call counts them."""
    tx.run(
        "UPDATE calls SET chain_calls = chain_calls + 1 WHERE call_id = :call_id",
        call_id=root_call_id,
    )


# ── what happens to a call besides its turns ─────────────────────────────────────────────────


def changed(tx: Transaction, call_id: str) -> None:
    """Something a caller can see is different: a question, or an answer to one."""
    tx.ring(bell(call_id))
    tx.run("UPDATE calls SET revision = revision + 1 WHERE call_id = :call_id", call_id=call_id)


def is_worked_on(db: Snapshot, call_id: str) -> bool:
    """Whether a turn of it runs right now."""
    return bool(
        db.value(
            "SELECT count(*) FROM turns WHERE call_id = :call_id AND state = 'running'",
            call_id=call_id,
        )
    )


def steered_since(db: Snapshot, call_id: str, since: int) -> list[Steered]:
    """When messages were sent into the work on a call, the oldest first."""
    return db.rows(
        Steered,
        """
        SELECT queued_at
        FROM turns
        WHERE call_id = :call_id
          AND cause = 'steer'
          AND queued_at > :since
        ORDER BY queued_at
        """,
        call_id=call_id,
        since=since,
    )


def expire_files(tx: Transaction, call_id: str) -> None:
    """What it produced has been removed; that it did stays on record."""
    tx.ring(bell(call_id))
    tx.run(
        """
        UPDATE calls
        SET files_expired = 1, revision = revision + 1
        WHERE call_id = :call_id
          AND files_expired = 0
        """,
        call_id=call_id,
    )
