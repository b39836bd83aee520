"""The physical limit: the rows a send leaves behind, written by apsw with nothing around it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import apsw

from agentworks import clock, migrations
from agentworks.server import DATABASE
from agentworks.store import connect

_BATCH = 50
_INBOXES = 500
_ACCOUNT = "INSERT INTO accounts VALUES ('acc', 'bench', 'bench', 1, NULL, 0, NULL)"
_CONNECTION = (
    "INSERT INTO connections (connection_id, account_id, label, scopes, created_at) "
    "VALUES ('conn', 'acc', 'bench', 'run', 0)"
)
_NAME = (
    "INSERT INTO registrations (registration_id, account_id, name, name_key, registered_at) "
    "VALUES ('reg', 'acc', 'r', 'r', 0)"
)
_INBOX = (
    "INSERT INTO conversations (conversation_id, account_id, opener_kind, opener_id, "
    "opener_name, peer_kind, peer_id, peer_name, opened_at, active_at, active_hour) "
    "VALUES (?, ?, 'account', ?, 'account:bench', 'registration', ?, 'agent:reviewer', ?, ?, 0)"
)
_SEQUENCE = (
    "UPDATE conversations SET last_sequence = last_sequence + 1, kept = kept + 1, active_at = ? "
    "WHERE conversation_id = ? RETURNING last_sequence"
)
_NUMBER = (
    "UPDATE registrations SET last_number = last_number + 1 "
    "WHERE registration_id = 'reg' RETURNING last_number"
)
_MESSAGE = (
    "INSERT INTO messages (conversation_id, sequence, message_id, by_opener, registration_id, "
    "number, sent_by, sent_at, body) VALUES (?, ?, ?, 1, 'reg', ?, 'conn', ?, ?)"
)
_SUBMISSION = (
    "INSERT INTO submissions (holder, operation, submission_id, fingerprint, answer, subject, "
    "accepted_at) VALUES ('acc', 'messages.send', ?, ?, ?, ?, ?)"
)


def group_commit(seconds: float, text: str) -> float:
    """Messages per second when 50 share a transaction, `synchronous=FULL`."""
    with tempfile.TemporaryDirectory(prefix="agentworks-raw-") as folder:
        db = connect(str(Path(folder) / DATABASE))
        migrations.migrate(db, clock.now())
        inboxes = [clock.new_id("inbox") for _ in range(_INBOXES)]
        db.execute("BEGIN")
        for sql in (_ACCOUNT, _CONNECTION, _NAME):
            db.execute(sql)
        for each in inboxes:
            db.execute(_INBOX, (each, "acc", "acc", "reg", 0, 0))
        db.execute("COMMIT")
        stop = time.perf_counter() + seconds
        began, written = time.perf_counter(), 0
        while time.perf_counter() < stop:
            db.execute("BEGIN IMMEDIATE")
            for n in range(written, written + _BATCH):
                _write(db, inboxes[n * 2 % _INBOXES], n, text)
            db.execute("COMMIT")
            written += _BATCH
        rate = written / (time.perf_counter() - began)
        db.close()
    return rate


def _write(db: apsw.Connection, inbox: str, n: int, text: str) -> None:
    now, message_id = clock.now(), clock.new_id("msg")
    ((sequence,),) = db.execute(_SEQUENCE, (now, inbox)).fetchall()
    ((number,),) = db.execute(_NUMBER).fetchall()
    db.execute(_MESSAGE, (inbox, sequence, message_id, number, now, text))
    db.execute(_SUBMISSION, (f"b-{n}", b"f" * 32, b"a" * 250, message_id, now))


def open_inboxes(home: Path, count: int) -> list[str]:
    """New conversations with a named agent, put straight into a server's file."""
    db = connect(str(home / DATABASE))
    ((account,),) = db.execute("SELECT account_id FROM accounts").fetchall()
    inboxes = [clock.new_id("inbox") for _ in range(count)]
    db.execute("BEGIN IMMEDIATE")
    db.execute(
        "INSERT INTO registrations (registration_id, account_id, name, name_key, registered_at) "
        "VALUES ('reg', ?, 'reviewer', 'reviewer', 0)",
        (account,),
    )
    for each in inboxes:
        db.execute(_INBOX, (each, account, account, "reg", clock.now(), clock.now()))
    db.execute("COMMIT")
    db.close()
    return inboxes
