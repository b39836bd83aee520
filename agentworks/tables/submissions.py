"""Submissions: what was answered to which request, so that a retry finds its receipt."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Submission(Struct, frozen=True):
    fingerprint: bytes
    answer: bytes


def find(db: Snapshot, holder: str, operation: str, submission_id: str) -> Submission | None:
    return db.row(
        Submission,
        """
        SELECT fingerprint, answer
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
    subject: str,
) -> None:
    """`subject` is the id of what the submission began; it is remembered as long as that is."""
    tx.run(
        """
        INSERT INTO submissions
            (holder, operation, submission_id, fingerprint, answer, subject, accepted_at)
        VALUES
            (:holder, :operation, :submission_id, :fingerprint, :answer, :subject, :now)
        """,
        holder=holder,
        operation=operation,
        submission_id=submission_id,
        fingerprint=kept.fingerprint,
        answer=kept.answer,
        subject=subject,
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
