"""Agents: Crews, code agents and later kinds, and what a list of them shows."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Agent(Struct, frozen=True):
    """An agent as every call meets it: without its texts, which only its turns need.

    `runtime` is the JSON of {name, …settings}; None refuses to run.
    """

    agent_id: str
    kind: str
    account_id: str
    name: str
    messaging: int
    runtime: str | None
    idle_seconds: int
    paused_at: int | None


class Texts(Struct, frozen=True):
    """What is said about an agent, and what it is told before anything else."""

    about: str
    instructions: str


class Shown(Struct, frozen=True):
    """An agent in somebody's list. `role` is theirs."""

    agent_id: str
    kind: str
    name: str
    name_key: str
    about: str
    role: str


class Running(Struct, frozen=True):
    """A turn that is running now, and the call it works on, if any."""

    agent_id: str
    cause: str
    function: str | None
    account_id: str | None
    args: str | None


class CallId(Struct, frozen=True):
    call_id: str


def by_id(db: Snapshot, agent_id: str) -> Agent | None:
    return db.row(
        Agent,
        """
        SELECT agent_id, kind, account_id, name, messaging, runtime, idle_seconds, paused_at
        FROM agents
        WHERE agent_id = :agent_id
        """,
        agent_id=agent_id,
    )


def by_name(db: Snapshot, name_key: str) -> list[Agent]:
    """Everybody's agents of that name. Whether the caller may see one is not decided here."""
    found = db.rows(
        Agent,
        """
        SELECT agent_id, kind, account_id, name, messaging, runtime, idle_seconds, paused_at
        FROM agents
        WHERE name_key = :name_key
        """,
        name_key=name_key,
    )
    return sorted(found, key=lambda each: each.agent_id)  # a sorter there costs more than the read


def of_owner(db: Snapshot, account_id: str, name_key: str) -> Agent | None:
    """The one agent of that name that the account owns."""
    return db.row(
        Agent,
        """
        SELECT agent_id, kind, account_id, name, messaging, runtime, idle_seconds, paused_at
        FROM agents
        WHERE account_id = :account_id
          AND name_key = :name_key
        """,
        account_id=account_id,
        name_key=name_key,
    )


def texts(db: Snapshot, agent_id: str) -> Texts | None:
    return db.row(
        Texts,
        "SELECT about, instructions FROM agents WHERE agent_id = :agent_id",
        agent_id=agent_id,
    )


def visible(db: Snapshot, account_id: str) -> list[Shown]:
    """Every agent the account owns or has a role on, by name. Code agents are their owner's."""
    return db.rows(
        Shown,
        """
        SELECT agent_id, kind, name, name_key, about, 'owner' AS role
        FROM agents
        WHERE account_id = :account_id
        UNION ALL
        SELECT agents.agent_id, agents.kind, agents.name, agents.name_key, agents.about,
               members.role
        FROM members
        JOIN agents ON agents.agent_id = members.agent_id
        WHERE members.account_id = :account_id
          AND agents.account_id <> :account_id
          AND agents.kind <> 'code'
        ORDER BY name_key, agent_id
        """,
        account_id=account_id,
    )


def count_of_account(db: Snapshot, account_id: str) -> int:
    return int(
        db.value(
            "SELECT count(*) FROM agents WHERE account_id = :account_id", account_id=account_id
        )
    )


def running(db: Snapshot) -> list[Running]:
    """What every agent of this server is doing, the longest first; few, for turns are dear."""
    return db.rows(
        Running,
        """
        SELECT chats.agent_id, turns.cause, calls.function, calls.account_id, calls.args
        FROM turns
        JOIN chats ON chats.chat_id = turns.chat_id
        LEFT JOIN calls ON calls.call_id = turns.call_id
        WHERE turns.state = 'running'
        ORDER BY turns.started_at, turns.turn_id
        """,
    )


def calls_waited_for(db: Snapshot, agent_id: str) -> list[str]:
    """Its calls that are not over: somebody may be waiting for one."""
    found = db.rows(
        CallId,
        """
        SELECT call_id
        FROM calls
        WHERE agent_id = :agent_id
          AND state IN ('working', 'timed_out')
        """,
        agent_id=agent_id,
    )
    return [each.call_id for each in found]


def add(
    tx: Transaction,
    agent_id: str,
    kind: str,
    account_id: str,
    name: str,
    name_key: str,
) -> None:
    """A new agent with nothing but a name; `change` gives it the rest."""
    tx.run(
        """
        INSERT INTO agents (agent_id, kind, account_id, name, name_key, about, made_at, changed_at)
        VALUES (:agent_id, :kind, :account_id, :name, :name_key, '', :now, :now)
        """,
        agent_id=agent_id,
        kind=kind,
        account_id=account_id,
        name=name,
        name_key=name_key,
        now=tx.now,
    )


def change(
    tx: Transaction,
    agent_id: str,
    name: str,
    name_key: str,
    about: str,
    instructions: str,
    messaging: bool,
    runtime: str | None,
    idle_seconds: int,
) -> None:
    tx.run(
        """
        UPDATE agents
        SET name = :name, name_key = :name_key, about = :about, instructions = :instructions,
            messaging = :messaging, runtime = :runtime, idle_seconds = :idle_seconds,
            changed_at = :now
        WHERE agent_id = :agent_id
        """,
        agent_id=agent_id,
        name=name,
        name_key=name_key,
        about=about,
        instructions=instructions,
        messaging=int(messaging),
        runtime=runtime,
        idle_seconds=idle_seconds,
        now=tx.now,
    )


def touch(tx: Transaction, agent_id: str) -> None:
    """Note that its definition has just changed."""
    tx.run(
        "UPDATE agents SET changed_at = :now WHERE agent_id = :agent_id",
        agent_id=agent_id,
        now=tx.now,
    )


def set_messaging(tx: Transaction, agent_id: str, messaging: bool) -> None:
    tx.run(
        """
        UPDATE agents
        SET messaging = :messaging, changed_at = :now
        WHERE agent_id = :agent_id
        """,
        agent_id=agent_id,
        messaging=int(messaging),
        now=tx.now,
    )


def set_runtime(tx: Transaction, agent_id: str, runtime: str | None) -> None:
    tx.run(
        "UPDATE agents SET runtime = :runtime, changed_at = :now WHERE agent_id = :agent_id",
        agent_id=agent_id,
        runtime=runtime,
        now=tx.now,
    )


def pause(tx: Transaction, agent_id: str, paused: bool) -> None:
    """Hold its wakeups and schedules, or let them go; holding again keeps the first moment."""
    tx.run(
        """
        UPDATE agents
        SET paused_at = CASE WHEN :paused = 1 THEN coalesce(paused_at, :now) END
        WHERE agent_id = :agent_id
        """,
        agent_id=agent_id,
        paused=int(paused),
        now=tx.now,
    )


def remove(tx: Transaction, agent_id: str) -> None:
    """With everything that is its own: definition, files, chats, calls, turns and wakeups."""
    tx.run("DELETE FROM agents WHERE agent_id = :agent_id", agent_id=agent_id)
