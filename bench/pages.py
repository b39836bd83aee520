"""A page of an inbox costs the same however much the file holds."""

from __future__ import annotations

import itertools
import time

import uvloop

from agentworks import clock
from agentworks.server import DATABASE
from agentworks.store import connect
from bench import load
from bench.bounds import Ratio, at_most
from bench.serving import Served, served

SECONDS = 4.0
READ_INBOXES = 50
TEXT = "x" * 300
_FEW, _MANY = 1_000, 1_000_000
_PER_INBOX = 1_000
_INBOXES_SQL = (
    "INSERT INTO conversations (conversation_id, account_id, opener_kind, opener_id, "
    "opener_name, peer_kind, peer_id, peer_name, opened_at, active_at, active_hour, "
    "last_sequence, kept) "
    "VALUES (?, ?, 'account', ?, 'account:bench', 'registration', ?, 'agent:reviewer', ?, ?, 0, "
    "100, 100)"
)
_MESSAGES_SQL = (
    "INSERT INTO messages (conversation_id, sequence, message_id, by_opener, sent_at, body) "
    "VALUES (?, ?, ?, 1, ?, ?)"
)


def flat() -> list[Ratio]:
    """Pages of 100 from the same inboxes, before and after the file has grown a thousandfold."""
    with served() as server:
        server.inboxes(1)
        inboxes = grow(server, _FEW // 100, 100)
        few = min(reading(server, inboxes), reading(server, inboxes))
        grow(server, (_MANY - _FEW) // _PER_INBOX, _PER_INBOX)
        later = grow(server, _FEW // 100, 100)
        many = min(reading(server, inboxes + later), reading(server, inboxes + later))
    return [
        at_most(
            "a page of 100 among 1,000,000 messages, in pages among 1,000",
            many / few,
            1.20,
            f"{many * 1e6:,.0f} µs against {few * 1e6:,.0f} µs of processor time",
        )
    ]


def reading(server: Served, inboxes: list[str]) -> float:
    """Seconds of the server's processor time per page."""
    requests = [
        load.get(f"/api/messages?inbox_id={each}&agent_name=reviewer&limit=100", server.reader)
        for each in inboxes
    ]
    began = server.cpu_seconds
    done = uvloop.run(
        load.drive(server.port, 4, SECONDS, lambda _: iter(itertools.cycle(requests)))
    )
    return (server.cpu_seconds - began) / (done.per_second * SECONDS * 1.1)


def grow(server: Served, inboxes: int, messages: int) -> list[str]:
    """Put conversations with so many messages each straight into the server's file."""
    db = connect(str(server.home / DATABASE))
    ((account, registration),) = db.execute(
        "SELECT account_id, registration_id FROM registrations"
    ).fetchall()
    found = []
    for _ in range(inboxes):
        inbox, now = clock.new_id("inbox"), clock.now()
        db.execute("BEGIN IMMEDIATE")
        db.execute(_INBOXES_SQL, (inbox, account, account, registration, now, now))
        db.executemany(
            _MESSAGES_SQL,
            ((inbox, n, clock.new_id("msg"), now, TEXT) for n in range(1, messages + 1)),
        )
        db.execute("COMMIT")
        found.append(inbox)
        time.sleep(0)
    db.close()
    return found
