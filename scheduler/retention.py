"""Every hour: forget what is over. Each pass is bounded; what is left waits for the next."""

from __future__ import annotations

from msgspec import Struct

from agentworks.rules import limits
from agentworks.store import Transaction
from agentworks.tables import attempts, devices, expired, invitations, sessions, submissions, tokens

_BATCH_MAX = 500  # rows of one kind removed in one pass
_DAY = 86_400_000  # milliseconds


class Forgotten(Struct, frozen=True):
    """How many rows of each kind one pass removed."""

    submissions: int
    expired_inboxes: int
    sessions: int
    tokens: int
    devices: int
    invitations: int
    attempts: int


def forget_what_is_over(tx: Transaction) -> Forgotten:
    """Remove what no limit in rules/limits.py asks to keep. Safe to miss and to repeat."""
    now = tx.now
    return Forgotten(
        submissions=submissions.forget(tx, now - limits.SUBMISSION_DAYS_MIN * _DAY, _BATCH_MAX),
        expired_inboxes=expired.forget(tx, now - limits.EXPIRED_INBOX_DAYS_MAX * _DAY, _BATCH_MAX),
        sessions=sessions.forget(tx, now, _BATCH_MAX),
        tokens=tokens.forget(tx, now - _DAY, _BATCH_MAX),
        devices=devices.forget(tx, now - _DAY, _BATCH_MAX),
        invitations=invitations.forget(tx, now, _BATCH_MAX),
        attempts=attempts.forget(tx, now - limits.ATTEMPTS_WINDOW_SECONDS * 1000, _BATCH_MAX),
    )
