"""Look into the file after a crash: what was acknowledged is there, once; nothing is half there.

It knows the rules by which messages may leave: a full conversation drops its oldest, and an account
with as many inboxes as it may have drops the one that was idle longest.
"""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from agentworks.rules import limits
from tests.crash.ledger import Ledger, Receipt


class Conversation(NamedTuple):
    account: str
    active_at: int
    last_sequence: int
    removed_through: int
    kept: int


class Store:
    """The whole file, read once."""

    def __init__(self, path: Path, inboxes_max: int) -> None:
        self.inboxes_max = inboxes_max
        with closing(apsw.Connection(str(path))) as db:

            def rows(sql: str) -> list[Any]:
                return list(db.execute(sql))

            assert rows("PRAGMA integrity_check") == [("ok",)]
            assert rows("PRAGMA foreign_key_check") == []
            self.conversations = {row[0]: Conversation(*row[1:]) for row in rows(CONVERSATIONS)}
            self.answers = {row[0]: json.loads(row[1]) for row in rows(SUBMISSIONS)}
            self.mailboxes = rows(MAILBOXES)
            self.names = set(rows(NAMES))
            self.expired = {row[0] for row in rows(EXPIRED)}
            self.found: dict[str, Receipt] = {}
            for conversation_id, sequence, message_id, body in rows(MESSAGES):
                assert body not in self.found, f"{body} is there twice"
                self.found[body] = Receipt(conversation_id, sequence, message_id)

    def check(self, ledger: Ledger) -> None:
        """Raises AssertionError at the first thing that is not as it must be."""
        self.numbers_add_up()
        for body in self.found:
            assert body in ledger.attempts, f"nobody sent {body}"
            assert body in self.answers, f"{body} is there without its submission"
        for submission_id in self.answers.keys() | ledger.receipts.keys():
            self.is_there_or_has_left(submission_id, ledger)
        for batch in ledger.batches:
            stored = [each in self.answers for each in batch]
            assert all(stored) or not any(stored), f"half of a batch is there: {batch}"
        for (account, name), state in ledger.names.items():
            there = (account, name) in self.names
            assert state == "uncertain" or there == (state == "there"), (account, name, state)

    def numbers_add_up(self) -> None:
        """Counters, sequences and mailbox numbers agree with the messages that are there."""
        sequences: dict[str, list[int]] = defaultdict(list)
        for each in self.found.values():
            sequences[each.conversation_id].append(each.sequence)
        for conversation_id, told in self.conversations.items():
            lying = sorted(sequences.pop(conversation_id, []))
            assert lying == list(range(told.removed_through + 1, told.last_sequence + 1)), told
            assert told.kept == len(lying), told
        assert not sequences, "messages without their conversation"
        for name, last_number, count, distinct, highest in self.mailboxes:
            assert count == distinct and (highest or 0) <= last_number, name

    def is_there_or_has_left(self, submission_id: str, ledger: Ledger) -> None:
        answer = self.answers.get(submission_id)
        assert answer is not None, f"the submission {submission_id} is forgotten"
        stored = Receipt(answer["conversation_id"], answer["sequence"], answer["message_id"])
        assert ledger.receipts.get(submission_id, stored) == stored
        if submission_id in self.found:
            assert self.found[submission_id] == stored, submission_id
        elif stored.conversation_id in self.conversations:
            conversation = self.conversations[stored.conversation_id]
            assert stored.sequence <= conversation.removed_through, f"{submission_id} is lost"
        else:
            attempt = ledger.attempts[submission_id]
            self.inbox_has_left(stored.conversation_id, attempt.account, attempt.asked_at)

    def inbox_has_left(self, conversation_id: str, account: str, active_at: int) -> None:
        """It was active at least until `active_at`, and left because it was the idlest of many."""
        others = [each for each in self.conversations.values() if each.account == account]
        if len(self.expired) < limits.EXPIRED_INBOXES_MAX:  # the oldest are forgotten then
            assert conversation_id in self.expired, f"{conversation_id} is lost"
        assert len(others) == self.inboxes_max, "an inbox was removed although there was room"
        assert active_at <= min(each.active_at for each in others), "it was not the idlest"


CONVERSATIONS = """
SELECT conversation_id, accounts.name, active_at, last_sequence, removed_through, kept
FROM conversations
JOIN accounts ON accounts.account_id = conversations.account_id
"""
MESSAGES = "SELECT conversation_id, sequence, message_id, body FROM messages"
SUBMISSIONS = "SELECT submission_id, answer FROM submissions WHERE operation = 'messages.send'"
MAILBOXES = """
SELECT name, last_number, count(number), count(DISTINCT number), max(number)
FROM registrations
LEFT JOIN messages ON messages.registration_id = registrations.registration_id
GROUP BY registrations.registration_id
"""
NAMES = """
SELECT accounts.name, registrations.name
FROM registrations
JOIN accounts ON accounts.account_id = registrations.account_id
"""
EXPIRED = "SELECT conversation_id FROM expired_inboxes"
