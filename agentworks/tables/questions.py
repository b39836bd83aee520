"""Questions: what a running turn asks of a person or of its caller, and the first answer to it."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Question(Struct, frozen=True):
    """`schema` and `answer` are JSON; `kind` is feedback, durable or secret."""

    request_id: str
    call_id: str | None
    turn_id: str
    kind: str
    question: str
    schema: str | None
    state: str
    answer: str | None
    asked_at: int
    expires_at: int | None

    @property
    def bell(self) -> str:
        """What rings when it is answered, has expired or was withdrawn."""
        return bell(self.request_id)

    def open_at(self, now: int) -> bool:
        """Whether it can still be answered. An expiry is never an approval."""
        return self.state == "pending" and (self.expires_at is None or self.expires_at > now)


def bell(request_id: str) -> str:
    return f"question/{request_id}"


def ask(
    tx: Transaction,
    turn_id: str,
    call_id: str | None,
    kind: str,
    question: str,
    schema: str | None,
    expires_at: int | None,
) -> str:
    """A new pending question; returns its request_id. Follow it with `calls.changed`."""
    request_id = tx.new_id("req")
    tx.run(
        """
        INSERT INTO questions
            (request_id, call_id, turn_id, kind, question, schema, asked_at, expires_at)
        VALUES
            (:request_id, :call_id, :turn_id, :kind, :question, :schema, :now, :expires_at)
        """,
        request_id=request_id,
        call_id=call_id,
        turn_id=turn_id,
        kind=kind,
        question=question,
        schema=schema,
        now=tx.now,
        expires_at=expires_at,
    )
    return request_id


def find(db: Snapshot, request_id: str) -> Question | None:
    return db.row(
        Question,
        """
        SELECT request_id, call_id, turn_id, kind, question, schema, state, answer,
               asked_at, expires_at
        FROM questions
        WHERE request_id = :request_id
        """,
        request_id=request_id,
    )


def pending_of_call(db: Snapshot, call_id: str, limit: int) -> list[Question]:
    """What a call waits to be told, the oldest question first."""
    return db.rows(
        Question,
        """
        SELECT request_id, call_id, turn_id, kind, question, schema, state, answer,
               asked_at, expires_at
        FROM questions
        WHERE call_id = :call_id
          AND state = 'pending'
          AND (expires_at IS NULL OR expires_at > :now)   -- the sweep may not have come yet
        ORDER BY asked_at, request_id
        LIMIT :limit
        """,
        call_id=call_id,
        now=db.now,
        limit=limit,
    )


def answer(tx: Transaction, request_id: str, answer: str, answered_by: str) -> bool:
    """Keep the first answer (JSON). False when it was answered, withdrawn or had expired."""
    tx.ring(bell(request_id))
    return bool(
        tx.changed(
            """
            UPDATE questions
            SET state = 'answered', answer = :answer, answered_by = :answered_by,
                answered_at = :now
            WHERE request_id = :request_id
              AND state = 'pending'
              AND (expires_at IS NULL OR expires_at > :now)
            """,
            request_id=request_id,
            answer=answer,
            answered_by=answered_by,
            now=tx.now,
        )
    )
