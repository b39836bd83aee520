"""Submissions: what was answered to which request, so that a retry finds its receipt."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Submission(Struct, frozen=True):
    """`subject` is the id of what the submission began; `answer` is empty where it is told anew."""

    fingerprint: bytes
    fingerprint_converted: bytes | None
    answer: bytes
    subject: str


def find(db: Snapshot, holder: str, operation: str, submission_id: str) -> Submission | None:
    return db.row(
        Submission,
        """
        SELECT fingerprint, fingerprint_converted, answer, subject
        FROM submissions
        WHERE holder = :holder
          AND operation = :operation
          AND submission_id = :submission_id
        """,
        holder=holder,
        operation=operation,
        submission_id=submission_id,
    )


def keep(
    tx: Transaction,
    holder: str,
    operation: str,
    submission_id: str,
    kept: Submission,
) -> None:
    """It is remembered as long as its subject, if that is a message, and for some days at least."""
    tx.run(
        """
        INSERT INTO submissions
            (holder, operation, submission_id, fingerprint, fingerprint_converted, answer,
             subject, accepted_at)
        VALUES
            (:holder, :operation, :submission_id, :fingerprint, :fingerprint_converted, :answer,
             :subject, :now)
        """,
        holder=holder,
        operation=operation,
        submission_id=submission_id,
        fingerprint=kept.fingerprint,
        fingerprint_converted=kept.fingerprint_converted,
        answer=kept.answer,
        subject=kept.subject,
        now=tx.now,
    )


def forget(tx: Transaction, before: int, limit: int) -> int:
    """Drop up to `limit` submissions older than `before` whose message is gone.

    Returns how many it dropped.
    """
    return tx.changed(
        """
        DELETE FROM submissions
        WHERE (holder, operation, submission_id) IN (
            SELECT holder, operation, submission_id
            FROM submissions
            WHERE accepted_at < :before
              AND NOT EXISTS (
                  SELECT 1 FROM messages WHERE message_id = submissions.subject
              )
            ORDER BY accepted_at
            LIMIT :limit
        )
        """,
        before=before,
        limit=limit,
    )
