"""Wakeups: requests for another turn in one exact chat, at a minute. They resend nothing."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Wakeup(Struct, frozen=True):
    wakeup_id: str
    chat_id: str
    due_at: int
    reason: str
    state: str


class Due(Struct, frozen=True):
    """A wakeup whose minute has come. Its turn will use this account's access, if still there."""

    wakeup_id: str
    chat_id: str
    account_id: str
    connection_id: str | None


class Reason(Struct, frozen=True):
    wakeup_id: str
    due_at: int
    reason: str


def find(db: Snapshot, chat_id: str, wakeup_id: str) -> Wakeup | None:
    return db.row(
        Wakeup,
        """
        SELECT wakeup_id, chat_id, due_at, reason, state
        FROM wakeups
        WHERE wakeup_id = :wakeup_id
          AND chat_id = :chat_id     -- knowing an id grants nothing
        """,
        wakeup_id=wakeup_id,
        chat_id=chat_id,
    )


def scheduled_in(db: Snapshot, chat_id: str) -> list[Wakeup]:
    """Those that a chat still waits for, soonest first."""
    return db.rows(
        Wakeup,
        """
        SELECT wakeup_id, chat_id, due_at, reason, state
        FROM wakeups
        WHERE chat_id = :chat_id
          AND state = 'scheduled'
        ORDER BY due_at, wakeup_id
        """,
        chat_id=chat_id,
    )


def add(
    tx: Transaction,
    chat_id: str,
    due_at: int,
    reason: str,
    account_id: str,
    connection_id: str | None,
) -> str:
    """Returns its id."""
    wakeup_id = tx.new_id("wake")
    tx.run(
        """
        INSERT INTO wakeups (wakeup_id, chat_id, due_at, reason, made_at, account_id, connection_id)
        VALUES (:wakeup_id, :chat_id, :due_at, :reason, :now, :account_id, :connection_id)
        """,
        wakeup_id=wakeup_id,
        chat_id=chat_id,
        due_at=due_at,
        reason=reason,
        now=tx.now,
        account_id=account_id,
        connection_id=connection_id,
    )
    return wakeup_id


def move(tx: Transaction, wakeup_id: str, due_at: int) -> bool:
    """Give it another time. False when it is no longer scheduled."""
    return bool(
        tx.changed(
            """
            UPDATE wakeups
            SET due_at = :due_at
            WHERE wakeup_id = :wakeup_id
              AND state = 'scheduled'
            """,
            wakeup_id=wakeup_id,
            due_at=due_at,
        )
    )


def cancel(tx: Transaction, wakeup_id: str) -> bool:
    """False when it is no longer scheduled."""
    return bool(
        tx.changed(
            """
            UPDATE wakeups
            SET state = 'cancelled'
            WHERE wakeup_id = :wakeup_id
              AND state = 'scheduled'
            """,
            wakeup_id=wakeup_id,
        )
    )


def due(db: Snapshot, limit: int) -> list[Due]:
    """Those whose minute has come and which nothing holds, longest due first."""
    return db.rows(
        Due,
        """
        SELECT wakeup_id, chat_id, account_id, connection_id
        FROM wakeups
        WHERE state = 'scheduled'
          AND due_at <= :now
          AND NOT EXISTS (SELECT 1 FROM store WHERE paused_at IS NOT NULL)
          AND NOT EXISTS (
              SELECT 1
              FROM chats
              JOIN agents ON agents.agent_id = chats.agent_id
              WHERE chats.chat_id = wakeups.chat_id
                AND agents.paused_at IS NOT NULL
          )
        ORDER BY due_at, wakeup_id
        LIMIT :limit
        """,
        now=db.now,
        limit=limit,
    )


def fire(tx: Transaction, wakeup_id: str, turn_id: str) -> bool:
    """It became this turn, which is queued. False when it is no longer scheduled."""
    return bool(
        tx.changed(
            """
            UPDATE wakeups
            SET state = 'firing', turn_id = :turn_id
            WHERE wakeup_id = :wakeup_id
              AND state = 'scheduled'
            """,
            wakeup_id=wakeup_id,
            turn_id=turn_id,
        )
    )


def reasons(db: Snapshot, turn_id: str) -> list[Reason]:
    """Why a turn was queued by wakeups, in the order they were due."""
    return db.rows(
        Reason,
        """
        SELECT wakeup_id, due_at, reason
        FROM wakeups
        WHERE turn_id = :turn_id
          AND state = 'firing'
        ORDER BY due_at, wakeup_id
        """,
        turn_id=turn_id,
    )


def settle(tx: Transaction, turn_id: str, state: str) -> int:
    """Fired, once the turn they became has begun, or interrupted. Returns how many."""
    return tx.changed(
        """
        UPDATE wakeups
        SET state = :state
        WHERE turn_id = :turn_id
          AND state = 'firing'
        """,
        turn_id=turn_id,
        state=state,
    )
