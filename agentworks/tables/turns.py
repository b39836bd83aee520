"""Turns: one stretch of an agent's work in one of its chats; one at a time there, in order."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Found(Struct, frozen=True):
    turn_id: str


class Turn(Struct, frozen=True):
    """A turn with the chat and agent it runs in, and the launch account once that is known."""

    turn_id: str
    chat_id: str
    agent_id: str
    place: int
    cause: str
    call_id: str | None
    prompt: str
    state: str
    account_id: str | None
    connection_id: str | None


def queue(
    tx: Transaction,
    chat_id: str,
    cause: str,
    call_id: str | None,
    prompt: str,
    account_id: str | None = None,
    connection_id: str | None = None,
    place: int = 0,
) -> str:
    """A new turn at the end of its chat's queue; returns its id. Follow it with `ring("turns")`.

    `place` is for a chat that has just begun: 1.

    A turn of a call acts with that call's launch account and connection; only for others are
    `account_id` and `connection_id` said here.
    """
    turn_id = tx.new_id("turn")
    place = place or _last_place(tx, chat_id) + 1  # inside the INSERT it costs thrice as much
    tx.run(
        """
        INSERT INTO turns
            (turn_id, chat_id, place, cause, call_id, prompt, queued_at, account_id, connection_id)
        VALUES
            (:turn_id, :chat_id, :place, :cause, :call_id, :prompt, :now, :account_id,
             :connection_id)
        """,
        turn_id=turn_id,
        chat_id=chat_id,
        place=place,
        cause=cause,
        call_id=call_id,
        prompt=prompt,
        now=tx.now,
        account_id=account_id,
        connection_id=connection_id,
    )
    return turn_id


def _last_place(db: Snapshot, chat_id: str) -> int:
    return int(
        db.value("SELECT max(place) FROM turns WHERE chat_id = :chat_id", chat_id=chat_id) or 0
    )


def find(db: Snapshot, turn_id: str) -> Turn | None:
    return db.row(
        Turn,
        """
        SELECT turns.turn_id, turns.chat_id, chats.agent_id, turns.place, turns.cause,
               turns.call_id, turns.prompt, turns.state, turns.account_id, turns.connection_id
        FROM turns
        JOIN chats ON chats.chat_id = turns.chat_id
        WHERE turns.turn_id = :turn_id
        """,
        turn_id=turn_id,
    )


def startable(db: Snapshot, limit: int, *, within_calls: bool = False) -> list[str]:
    """The first queued turn of each chat that has none running, by id, oldest first.

    `within_calls`: only those of calls that another call waits for.
    """
    found = db.rows(
        Found,
        """
        SELECT turn_id
        FROM turns
        WHERE state = 'queued'
          AND NOT EXISTS (
              SELECT 1
              FROM turns AS running
              WHERE running.chat_id = turns.chat_id
                AND running.state = 'running'
          )
          AND NOT EXISTS (
              SELECT 1
              FROM turns AS before
              WHERE before.chat_id = turns.chat_id
                AND before.state = 'queued'
                AND before.place < turns.place
          )
          AND (
              :within_calls = 0
              OR EXISTS (
                  SELECT 1
                  FROM calls
                  WHERE calls.call_id = turns.call_id
                    AND parent_call_id IS NOT NULL
              )
          )
        ORDER BY queued_at, turn_id
        LIMIT :limit
        """,
        within_calls=int(within_calls),
        limit=limit,
    )
    return [each.turn_id for each in found]


def ahead_of_call(db: Snapshot, call_id: str) -> int:
    """How many turns its first queued turn waits behind in its chat; 0 when it has none queued."""
    found = db.value(
        """
        SELECT (
                   SELECT count(*)
                   FROM turns AS before
                   WHERE before.chat_id = own.chat_id
                     AND before.state = 'queued'
                     AND before.place < own.place
               ) + (
                   SELECT count(*)
                   FROM turns AS running
                   WHERE running.chat_id = own.chat_id
                     AND running.state = 'running'
               ) AS ahead
        FROM turns AS own
        WHERE own.call_id = :call_id
          AND own.state = 'queued'
        ORDER BY own.place
        LIMIT 1
        """,
        call_id=call_id,
    )
    return 0 if found is None else int(found)


def has_queued(db: Snapshot, chat_id: str, cause: str) -> bool:
    """Whether a turn of this cause already waits in a chat: one takes up all waiting messages."""
    return bool(
        db.value(
            """
            SELECT count(*)
            FROM turns
            WHERE chat_id = :chat_id
              AND state = 'queued'
              AND cause = :cause
            """,
            chat_id=chat_id,
            cause=cause,
        )
    )


def queued_of_call(db: Snapshot, call_id: str) -> int:
    return int(
        db.value(
            "SELECT count(*) FROM turns WHERE call_id = :call_id AND state = 'queued'",
            call_id=call_id,
        )
    )


def begin(tx: Transaction, turn_id: str, account_id: str, connection_id: str | None) -> bool:
    """Take a queued turn; it uses this account's access from now on. False if it is not queued."""
    return bool(
        tx.changed(
            """
            UPDATE turns
            SET state = 'running', started_at = :now, account_id = :account_id,
                connection_id = :connection_id
            WHERE turn_id = :turn_id
              AND state = 'queued'
            """,
            turn_id=turn_id,
            now=tx.now,
            account_id=account_id,
            connection_id=connection_id,
        )
    )


def end(tx: Transaction, turn_id: str, state: str, reason: str | None, usage: str | None) -> bool:
    """Settle a running turn: ended, failed or interrupted. `usage` is JSON."""
    return bool(
        tx.changed(
            """
            UPDATE turns
            SET state = :state, ended_at = :now, reason = :reason, usage = :usage
            WHERE turn_id = :turn_id
              AND state = 'running'
            """,
            turn_id=turn_id,
            state=state,
            now=tx.now,
            reason=reason,
            usage=usage,
        )
    )


def leave(tx: Transaction, turn_id: str, state: str, reason: str) -> bool:
    """Settle a queued turn that will not run: cancelled, or steered into a running one."""
    return bool(
        tx.changed(
            """
            UPDATE turns
            SET state = :state, ended_at = :now, reason = :reason
            WHERE turn_id = :turn_id
              AND state = 'queued'
            """,
            turn_id=turn_id,
            state=state,
            now=tx.now,
            reason=reason,
        )
    )


def cancel_queued_of_call(tx: Transaction, call_id: str, reason: str) -> int:
    """What still waits for a call that has ended will not run. Returns how many."""
    return tx.changed(
        """
        UPDATE turns
        SET state = 'cancelled', ended_at = :now, reason = :reason
        WHERE call_id = :call_id
          AND state = 'queued'
        """,
        call_id=call_id,
        now=tx.now,
        reason=reason,
    )


def running(db: Snapshot) -> list[Turn]:
    """Every turn that has begun and not ended: at start-up, what an earlier server left."""
    return db.rows(
        Turn,
        """
        SELECT turns.turn_id, turns.chat_id, chats.agent_id, turns.place, turns.cause,
               turns.call_id, turns.prompt, turns.state, turns.account_id, turns.connection_id
        FROM turns
        JOIN chats ON chats.chat_id = turns.chat_id
        WHERE turns.state = 'running'
        ORDER BY turns.queued_at, turns.turn_id
        """,
    )
