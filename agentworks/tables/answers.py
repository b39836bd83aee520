"""Answers: how what a turn asked finds its way back to it, or runs out (`questions` asks)."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Untold(Struct, frozen=True):
    """A question that was answered, or ran out, and whose asker does not know it yet."""

    request_id: str
    turn_id: str
    call_id: str | None
    kind: str
    question: str
    state: str
    answer: str | None


class Expired(Struct, frozen=True):
    request_id: str
    call_id: str | None


def untold(db: Snapshot) -> list[Untold]:
    """Questions with an answer, or without one for ever, that nobody was told yet."""
    return db.rows(
        Untold,
        """
        SELECT request_id, turn_id, call_id, kind, question, state, answer
        FROM questions
        WHERE told_at IS NULL
          AND state IN ('answered', 'expired')
        ORDER BY answered_at, request_id
        LIMIT 100
        """,
    )


def tell(tx: Transaction, request_id: str) -> bool:
    """Note that whoever asked was given the answer. False when it was noted before.

    A secret is forgotten with that: it is kept no longer than it is needed.
    """
    return bool(
        tx.changed(
            """
            UPDATE questions
            SET told_at = :now,
                answer = CASE
                    WHEN kind = 'secret' AND answer IS NOT NULL THEN '"(told)"' ELSE answer
                END
            WHERE request_id = :request_id
              AND told_at IS NULL
            """,
            request_id=request_id,
            now=tx.now,
        )
    )


def withdraw(tx: Transaction, turn_id: str, with_durable: bool) -> int:
    """The turn that asked has ended. A durable question outlives it, unless its call ended too."""
    return tx.changed(
        """
        UPDATE questions
        SET state = 'withdrawn'
        WHERE turn_id = :turn_id
          AND state = 'pending'
          AND (kind <> 'durable' OR :with_durable = 1)
        """,
        turn_id=turn_id,
        with_durable=int(with_durable),
    )


def tell_all(tx: Transaction, turn_id: str, with_durable: bool) -> int:
    """The turn that asked has ended: what it did not read of its answers, it needs no more.

    A durable answer is for a later turn, unless its call ended too. Secrets are forgotten, as by
    `tell`.
    """
    return tx.changed(
        """
        UPDATE questions
        SET told_at = :now,
            answer = CASE
                WHEN kind = 'secret' AND answer IS NOT NULL THEN '"(told)"' ELSE answer
            END
        WHERE turn_id = :turn_id
          AND told_at IS NULL
          AND state IN ('answered', 'expired')
          AND (kind <> 'durable' OR :with_durable = 1)
        """,
        turn_id=turn_id,
        with_durable=int(with_durable),
        now=tx.now,
    )


def expired(db: Snapshot) -> list[Expired]:
    """Questions whose time has run out without an answer."""
    return db.rows(
        Expired,
        """
        SELECT request_id, call_id
        FROM questions
        WHERE state = 'pending'
          AND expires_at <= :now
        ORDER BY expires_at
        LIMIT 100
        """,
        now=db.now,
    )


def expire(tx: Transaction, request_id: str) -> bool:
    """Its time has run out: no answer is taken any more. False when one came before."""
    return bool(
        tx.changed(
            """
            UPDATE questions
            SET state = 'expired'
            WHERE request_id = :request_id
              AND state = 'pending'
              AND expires_at <= :now
            """,
            request_id=request_id,
            now=tx.now,
        )
    )


def count_open(db: Snapshot, turn_id: str) -> int:
    """How many questions of a turn wait for their answers."""
    return int(
        db.value(
            "SELECT count(*) FROM questions WHERE turn_id = :turn_id AND state = 'pending'",
            turn_id=turn_id,
        )
    )


def same_open(db: Snapshot, turn_id: str, kind: str, question: str) -> str | None:
    """A question that this turn has already put in the same words, by its request_id."""
    found = db.value(
        """
        SELECT min(request_id)
        FROM questions
        WHERE turn_id = :turn_id
          AND state = 'pending'
          AND kind = :kind
          AND question = :question
          AND (expires_at IS NULL OR expires_at > :now)
        """,
        turn_id=turn_id,
        kind=kind,
        question=question,
        now=db.now,
    )
    return None if found is None else str(found)


def waits_for_person(db: Snapshot, call_id: str) -> bool:
    """True while a durable question of this call can still be answered, or its answer be told."""
    return bool(
        db.value(
            """
            SELECT count(*)
            FROM questions
            WHERE call_id = :call_id
              AND kind = 'durable'
              AND told_at IS NULL
              AND state IN ('pending', 'answered', 'expired')
            """,
            call_id=call_id,
        )
    )
