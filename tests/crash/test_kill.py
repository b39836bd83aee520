"""`kill -9` in the middle of a mixed load, again and again; then look at what is left."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from agentworks import offline
from tests.crash.checker import Store
from tests.crash.ledger import Ledger
from tests.crash.load import NAMES, Account, Client, until_gone
from tests.live import Live, Wire

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "20"))
CLIENTS = 64
ACCOUNTS = ["ada", "bob", "cy", "dee", "eve"]
INBOXES_MAX = 60  # per account: lower than the seeds' 300, so that many inboxes leave
SETTINGS = {
    "MESSAGES_PER_HOUR_MAX": 1_000_000,  # raised from 40: so few pairs could not load a server
    "MESSAGES_PER_INBOX_MAX": 150,  # lowered from 1,000, so that many messages leave
    "INBOXES_PER_ACCOUNT_MAX": INBOXES_MAX,
}


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """A server that is not started yet."""
    print("limits changed for this test:", SETTINGS, file=sys.stderr)
    live = Live(tmp_path / "data", *(f"--set={name}={most}" for name, most in SETTINGS.items()))
    yield live
    if live.running.poll() is None:
        live.kill()


def test_what_was_acknowledged_is_there_once_and_nothing_is_half_there(live: Live) -> None:
    ledger, accounts, path = Ledger(), prepared(live), live.folder / offline.DATABASE
    for number in range(ROUNDS):
        began = time.monotonic()
        live.start()
        for account in accounts:
            settle_uncertain(live, ledger, account)
        clients = [
            Client(place, accounts[place % len(accounts)], live.port, ledger, number)
            for place in range(CLIENTS)
        ]
        seconds = random.Random(number).uniform(0.5, 1.2)
        asyncio.run(until_gone(clients, seconds, live.kill))
        store = Store(path, INBOXES_MAX)
        store.check(ledger)
        print(
            f"round {number + 1}: {ledger.answered} answered so far, {len(ledger.receipts)} "
            f"receipts, {len(store.found)} messages kept, {len(ledger.uncertain)} uncertain, "
            f"{time.monotonic() - began:.1f} s",
            file=sys.stderr,
        )
    assert len(ledger.receipts) > ROUNDS * 100, "that was no load"
    live.start()
    for account in accounts:
        settle_uncertain(live, ledger, account)
        read_to_the_end(live, account)
    live.stop()
    assert not ledger.uncertain
    Store(path, INBOXES_MAX).check(ledger)
    for damage in DAMAGE.values():
        assert_noticed(path, ledger, damage)


NEWEST = "(SELECT max(message_id) FROM messages)"
ITS_INBOX = f"(SELECT conversation_id FROM messages WHERE message_id = {NEWEST})"
#: What must not happen to a file, so that the check is seen to notice it.
DAMAGE = {
    "a lost message": f"DELETE FROM messages WHERE message_id = {NEWEST}",
    "a lost message, with its counter": f"""
        UPDATE conversations SET kept = kept - 1, last_sequence = last_sequence - 1
        WHERE conversation_id = {ITS_INBOX};
        DELETE FROM messages WHERE message_id = {NEWEST}
    """,
    "a lost submission": f"DELETE FROM submissions WHERE subject = {NEWEST}",
    "a changed message": f"UPDATE messages SET body = 'x' WHERE message_id = {NEWEST}",
    "a changed number": f"UPDATE messages SET sequence = sequence + 1 WHERE message_id = {NEWEST}",
    "a counter behind": "UPDATE conversations SET last_sequence = last_sequence - 1",
    "a mailbox counter behind": "UPDATE registrations SET last_number = 0",
    "a lost inbox": f"""
        PRAGMA foreign_keys = on;
        DELETE FROM conversations WHERE conversation_id = {ITS_INBOX}
    """,
    "a lost name": "DELETE FROM registrations WHERE name LIKE '%-%'",
    "an invented message": f"""
        INSERT INTO messages (conversation_id, sequence, message_id, by_opener, sent_at, body)
        SELECT conversation_id, last_sequence + 1, 'msg_x', 1, 1, 'x' FROM conversations
        WHERE conversation_id = {ITS_INBOX};
        UPDATE conversations SET kept = kept + 1, last_sequence = last_sequence + 1
        WHERE conversation_id = {ITS_INBOX}
    """,
}


def assert_noticed(path: Path, ledger: Ledger, damage: str) -> None:
    copy = path.with_name("damaged.db")
    with closing(apsw.Connection(str(path))) as db:
        db.execute("VACUUM INTO ?", (str(copy),))
    Store(copy, INBOXES_MAX).check(ledger)
    with closing(apsw.Connection(str(copy))) as db:
        db.execute(damage)
    with pytest.raises(AssertionError):
        Store(copy, INBOXES_MAX).check(ledger)
    copy.unlink()


def prepared(live: Live) -> list[Account]:
    """Accounts, each with a connection that may use each of its names."""
    live.start().stop()
    with closing(apsw.Connection(str(live.folder / offline.DATABASE))) as db:
        for name in ACCOUNTS:
            db.execute(
                "INSERT INTO accounts (account_id, name, name_key, owner, created_at) "
                "VALUES (?1, ?2, ?2, 0, 1)",
                (f"acc_{name}", name),
            )
    accounts = [
        Account(name, str(offline.create_connection(live.folder, name, name)["token"]))
        for name in ACCOUNTS
    ]
    with live:
        for account in accounts:
            wire = live.wire(account.token)
            for name in NAMES:
                answer = wire.ask("POST", "/api/messages/agents", {"agent_name": name})
                assert answer.status == 200, answer
    return accounts


def settle_uncertain(live: Live, ledger: Ledger, account: Account) -> None:
    """Retry what was never answered. A retry of what was stored brings the same receipt."""
    with live.wire(account.token) as wire:
        mine = [each for each in ledger.attempts if ledger.attempts[each].account == account.name]
        for submission_id in [each for each in mine if each in ledger.uncertain]:
            retry(wire, ledger, submission_id)
        for submission_id in [each for each in mine if each in ledger.receipts][-20:]:
            retry(wire, ledger, submission_id)
    ledger.batches = [each for each in ledger.batches if ledger.uncertain & set(each)]


def retry(wire: Wire, ledger: Ledger, submission_id: str) -> None:
    answer = wire.ask("POST", "/api/messages", ledger.attempts[submission_id].call)
    assert answer.status == 200, answer
    ledger.acknowledged(submission_id, answer.json)


def read_to_the_end(live: Live, account: Account) -> None:
    """Every mailbox can be read, in order, each message once."""
    with live.wire(account.token) as wire:
        for name in NAMES:
            after, seen = 0, []
            while True:
                path = f"/api/messages?agent_name={name}&after={after}&limit=100"
                page = wire.ask("GET", path).json
                if not page["messages"]:
                    break
                seen += [each["message"] for each in page["messages"]]
                after = page["next_cursor"]
            assert len(set(seen)) == len(seen) > 0
