"""What a crash may not change: everything that was acknowledged, and what was merely tried."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

Body = dict[str, Any]


class Receipt(NamedTuple):
    """An acknowledged message."""

    conversation_id: str
    sequence: int
    message_id: str


class Attempt(NamedTuple):
    """A message somebody tried to send: for which account, the call, and when (milliseconds)."""

    account: str
    call: Body
    asked_at: int


class Ledger:
    """Kept by the clients. A submission_id is also its message's text, so each finds the other."""

    def __init__(self) -> None:
        self.receipts: dict[str, Receipt] = {}
        self.attempts: dict[str, Attempt] = {}
        self.uncertain: set[str] = set()  # asked, never answered
        self.batches: list[list[str]] = []  # asked as one, never answered
        self.names: dict[tuple[str, str], str] = {}  # "there", "gone" or "uncertain"
        self.answered = 0

    def tried(self, account: str, call: Body) -> str:
        submission_id = str(call["submission_id"])
        self.attempts[submission_id] = Attempt(account, call, time.time_ns() // 1_000_000)
        self.uncertain.add(submission_id)
        return submission_id

    def acknowledged(self, submission_id: str, answer: Body) -> None:
        """Note a receipt. A retry must bring the receipt there was."""
        assert answer["status"] == "accepted", answer
        receipt = Receipt(answer["conversation_id"], answer["sequence"], answer["message_id"])
        earlier = self.receipts.setdefault(submission_id, receipt)
        assert earlier == receipt, f"{submission_id} has two receipts"
        self.uncertain.discard(submission_id)
