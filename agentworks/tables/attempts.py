"""Attempts that a limit counts: wrong passwords, wrong codes, requests of one address."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Attempt(Struct, frozen=True):
    subject: str
    attempted_at: int
    number: int


def nth_newest(db: Snapshot, subject: str, since: int, nth: int) -> int | None:
    """When the `nth` newest attempt after `since` was made (1 is the newest); None if none was."""
    moment: int | None = db.value(
        """
        SELECT attempted_at
        FROM attempts
        WHERE subject = :subject
          AND attempted_at > :since
        ORDER BY attempted_at DESC, number DESC
        LIMIT 1 OFFSET :nth - 1
        """,
        subject=subject,
        since=since,
        nth=nth,
    )
    return moment


def add(tx: Transaction, subject: str) -> Attempt | None:
    return tx.row(
        Attempt,
        """
        INSERT INTO attempts (subject, attempted_at, number)
        SELECT :subject, :now, coalesce(max(number) + 1, 0)
        FROM attempts
        WHERE subject = :subject
          AND attempted_at = :now
        RETURNING subject, attempted_at, number
        """,
        subject=subject,
        now=tx.now,
    )


def withdraw(tx: Transaction, attempt: Attempt) -> None:
    """It was none after all."""
    tx.run(
        """
        DELETE FROM attempts
        WHERE subject = :subject
          AND attempted_at = :attempted_at
          AND number = :number
        """,
        subject=attempt.subject,
        attempted_at=attempt.attempted_at,
        number=attempt.number,
    )


def clear(tx: Transaction, subject: str) -> None:
    tx.run("DELETE FROM attempts WHERE subject = :subject", subject=subject)


def forget(tx: Transaction, before: int, limit: int) -> int:
    """Drop up to `limit` attempts older than `before`. Returns how many."""
    return tx.changed(
        """
        DELETE FROM attempts
        WHERE (subject, attempted_at, number) IN (
            SELECT subject, attempted_at, number
            FROM attempts
            WHERE attempted_at < :before
            LIMIT :limit
        )
        """,
        before=before,
        limit=limit,
    )
