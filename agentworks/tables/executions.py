"""Executions: what a turn needs to know before it runs, and what its running leaves behind.

The verbs of the runner and of recovery on chats, calls and their progress. How a call is accepted
and read is `calls`' to say; what becomes of a question is `answers`'.
"""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Host(Struct, frozen=True):
    """The chat a turn runs in and the agent that thinks there."""

    agent_id: str
    kind: str
    name: str
    account_id: str
    instructions: str
    messaging: int
    runtime: str | None
    idle_seconds: int
    mode: str
    chat_kind: str
    holder: str | None
    session_ref: str | None


class Called(Struct, frozen=True):
    """The call a turn works on. `args` and `result_schema` are JSON."""

    call_id: str
    kind: str
    function: str
    account_id: str
    connection_id: str | None
    caller_kind: str
    caller_name: str
    args: str | None
    message: str | None
    state: str
    holds_slot: int
    notify_chat_id: str | None
    result_schema: str | None
    parent_call_id: str | None
    started_at: int | None


class Numbered(Struct, frozen=True):
    last_number: int


def host(db: Snapshot, chat_id: str) -> Host | None:
    return db.row(
        Host,
        """
        SELECT agents.agent_id, agents.kind, agents.name, agents.account_id, agents.instructions,
               agents.messaging, agents.runtime, agents.idle_seconds, chats.mode,
               chats.kind AS chat_kind, chats.holder, chats.session_ref
        FROM chats
        JOIN agents ON agents.agent_id = chats.agent_id
        WHERE chats.chat_id = :chat_id
        """,
        chat_id=chat_id,
    )


def called(db: Snapshot, call_id: str) -> Called | None:
    return db.row(
        Called,
        """
        SELECT call_id, kind, function, account_id, connection_id, caller_kind, caller_name, args,
               message, state, holds_slot, notify_chat_id, result_schema, parent_call_id, started_at
        FROM calls
        WHERE call_id = :call_id
        """,
        call_id=call_id,
    )


def slots_held(db: Snapshot, agent_id: str) -> int:
    """How many calls of an agent may have something alive."""
    return int(
        db.value(
            "SELECT count(*) FROM calls WHERE agent_id = :agent_id AND holds_slot = 1",
            agent_id=agent_id,
        )
    )


def keep_session(tx: Transaction, chat_id: str, session_ref: str | None) -> None:
    """The runtime's own name for a chat, to resume it by; the chat was active just now."""
    tx.run(
        """
        UPDATE chats
        SET session_ref = coalesce(:session_ref, session_ref), active_at = :now
        WHERE chat_id = :chat_id
        """,
        chat_id=chat_id,
        session_ref=session_ref,
        now=tx.now,
    )


# ── a call while it runs ─────────────────────────────────────────────────────────────────────


def start(tx: Transaction, call_id: str, holds_slot: bool) -> None:
    """A turn of it begins; the first one dates its start."""
    tx.run(
        """
        UPDATE calls
        SET started_at = coalesce(started_at, :now), sign_at = :now, revision = revision + 1,
            activity = 'starting', holds_slot = :holds_slot
        WHERE call_id = :call_id
        """,
        call_id=call_id,
        holds_slot=int(holds_slot),
        now=tx.now,
    )


def sign(tx: Transaction, call_id: str) -> None:
    """It lives, and has nothing to say that a caller would wait for."""
    tx.run("UPDATE calls SET sign_at = :now WHERE call_id = :call_id", call_id=call_id, now=tx.now)


def note(tx: Transaction, call_id: str, lines: int, activity: str | None) -> int | None:
    """Room for `lines` more lines of progress and, perhaps, what it does now.

    Returns the number of the last of these lines; None when there is no such call.
    """
    found = tx.row(
        Numbered,
        """
        UPDATE calls
        SET last_number = last_number + :lines, activity = coalesce(:activity, activity),
            sign_at = :now, revision = revision + 1
        WHERE call_id = :call_id
        RETURNING last_number
        """,
        call_id=call_id,
        lines=lines,
        activity=activity,
        now=tx.now,
    )
    return found.last_number if found else None


def add_line(tx: Transaction, call_id: str, number: int, line: str) -> None:
    tx.run(
        """
        INSERT INTO call_progress (call_id, number, at, line)
        VALUES (:call_id, :number, :now, :line)
        """,
        call_id=call_id,
        number=number,
        now=tx.now,
        line=line,
    )


def drop_lines(tx: Transaction, call_id: str, through: int) -> None:
    """Forget the oldest lines of progress, up to this number."""
    tx.run(
        "DELETE FROM call_progress WHERE call_id = :call_id AND number <= :through",
        call_id=call_id,
        through=through,
    )


def park(tx: Transaction, call_id: str) -> None:
    """Nothing of it is alive; it waits for a person, or for its next turn."""
    tx.run(
        """
        UPDATE calls
        SET holds_slot = 0, activity = '', sign_at = :now, revision = revision + 1
        WHERE call_id = :call_id
        """,
        call_id=call_id,
        now=tx.now,
    )


def settle(
    tx: Transaction,
    call_id: str,
    was: str,
    state: str,
    *,
    alive: bool = False,
    reason: str | None = None,
    answer: str | None = None,
    result: str | None = None,
    result_file: str | None = None,
    partial: str | None = None,
    usage: str | None = None,
    files: str | None = None,
) -> bool:
    """End a call that stands at `was`; False when it stands elsewhere.

    `alive`: something of it still runs, so it keeps its slot. The last three are JSON.
    """
    return bool(
        tx.changed(
            """
            UPDATE calls
            SET state = :state, settled_at = coalesce(settled_at, :now),
                sign_at = CASE WHEN :alive = 1 THEN sign_at ELSE :now END,
                revision = revision + 1, activity = '',
                holds_slot = CASE WHEN :alive = 1 THEN holds_slot ELSE 0 END,
                reason = coalesce(:reason, reason), answer = coalesce(:answer, answer),
                result = coalesce(:result, result), partial = coalesce(:partial, partial),
                result_file = coalesce(:result_file, result_file),
                usage = coalesce(:usage, usage), files = coalesce(:files, files)
            WHERE call_id = :call_id
              AND state = :was
            """,
            call_id=call_id,
            was=was,
            state=state,
            now=tx.now,
            alive=int(alive),
            reason=reason,
            answer=answer,
            result=result,
            result_file=result_file,
            partial=partial,
            usage=usage,
            files=files,
        )
    )


def recount_slots(tx: Transaction) -> int:
    """At start-up, when nothing runs: a call holds its slot while a turn of it is queued.

    Returns how many slots that nothing held were freed.
    """
    return tx.changed(
        """
        UPDATE calls
        SET holds_slot = 0
        WHERE holds_slot = 1
          AND NOT EXISTS (
              SELECT 1
              FROM turns
              WHERE turns.call_id = calls.call_id
                AND turns.state IN ('queued', 'running')
          )
        """
    )
