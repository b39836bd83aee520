"""Accepting calls: against sends of the same server; and listing them, few and many.

Execution is timed apart: the server of this bench takes no turns, and gives back each slot soon
after it was taken, as a turn that does nothing would.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import time
from collections.abc import Iterator

from agentworks import clock
from agentworks.server import DATABASE
from agentworks.store import connect
from bench import load
from bench.bounds import Ratio, at_least, at_most
from bench.sends import CALLERS, SECONDS, sending
from bench.serving import Served, served

CREWS = 200
_FEW, _MANY = 1_000, 100_000
_MIB = 1024 * 1024
_numbers = itertools.count()
_INPUTS = json.dumps(
    [
        {"name": "PR_NUMBER", "type": "integer", "required": True},
        {"name": "GITHUB_OWNER", "type": "string", "required": True, "default": "runloop-works"},
        {"name": "GROUP", "type": "string", "enum": ["staging", "prod"]},
    ]
)
_CREW = (
    "INSERT INTO agents (agent_id, kind, account_id, name, name_key, about, runtime, made_at, "
    "changed_at) VALUES (?, 'crew', ?, ?, ?, 'Reviews pull requests.', '{\"name\": \"scripted\"}', "
    "0, 0)"
)
_FUNCTION = (
    "INSERT INTO functions (agent_id, name, place, description, inputs, allowed_callers, "
    "instructions, changed_at) VALUES (?, 'review_pr', 1, '', ?, '', 'Review it.', 0)"
)
_CHAT = "INSERT INTO chats VALUES (?, ?, 'builder', 'call', NULL, '', NULL, 0, 0)"
_CALL = (
    "INSERT INTO calls (call_id, agent_id, owner_id, kind, function, chat_id, account_id, "
    "caller_kind, caller_id, caller_name, chain, args, holds_slot, state, accepted_at, sign_at, "
    "settled_at, answer) VALUES (?, ?, ?, 'function', 'review_pr', ?, ?, 'connection', 'conn', "
    "'bench', '[]', '{}', 0, 'completed', ?, ?, ?, 'Nothing found.')"
)


def against_sends() -> list[Ratio]:
    """Calls accepted over 200 Crews, and sends into 500 conversations, alternating in one run."""
    with served("accepting") as server:
        inboxes = server.inboxes(500)
        crews(server)
        pairs = [(calling(server), sending(server, inboxes)) for _ in range(5)]
    accepted = statistics.median(each.per_second for each, _ in pairs)
    sent = statistics.median(each.per_second for _, each in pairs)
    return [
        at_least(
            "accepted calls, share of durable sends",
            statistics.median(call.per_second / send.per_second for call, send in pairs),
            0.60,
            f"{accepted:,.0f}/s of {sent:,.0f}/s, {CALLERS} callers, {CREWS} Crews, median of 5",
        )
    ]


def calling(server: Served) -> load.Measured:
    def requests(caller: int) -> Iterator[bytes]:
        for n in itertools.count():
            body = {
                "target": f"Crew {(caller * 31 + n) % CREWS}",
                "function": "review_pr",
                "args": {"PR_NUMBER": n},
                "submission_id": f"c-{next(_numbers)}",
            }
            yield load.post("/api/calls", server.token, body)

    return asyncio.run(load.drive(server.port, CALLERS, SECONDS, requests))


def crews(server: Served) -> list[str]:
    """Crews of the bench's account, put straight into the server's file; their ids."""
    db = connect(str(server.home / DATABASE))
    ((account,),) = db.execute("SELECT DISTINCT account_id FROM connections").fetchall()
    made = [clock.new_uuid() for _ in range(CREWS)]
    db.execute("BEGIN IMMEDIATE")
    for number, each in enumerate(made):
        db.execute(_CREW, (each, account, f"Crew {number}", f"crew{number}"))
        db.execute(_FUNCTION, (each, _INPUTS))
    db.execute("COMMIT")
    db.close()
    return made


def listing() -> list[Ratio]:
    """A page of calls among few and among many, and what many ended calls cost in memory."""
    with served("accepting") as server:
        server.inboxes(1)
        made = crews(server)
        grow(server, made, _FEW)
        few = min(reading(server) for _ in range(3))
        memory = server.memory
        grow(server, made, _MANY - _FEW)
        many = min(reading(server) for _ in range(3))
        grown = (server.memory - memory) / _MIB
    return [
        at_most(
            f"a page of calls among {_MANY:,}, in pages among {_FEW:,}",
            many / few,
            1.20,
            f"{many * 1e6:,.0f} µs against {few * 1e6:,.0f} µs of processor time",
        ),
        at_most(
            f"memory of {_MANY - _FEW:,} ended calls",
            grown,
            40,
            "resident; SQLite's cache may take 32 MiB of it",
            unit=" MB",
        ),
    ]


def reading(server: Served) -> float:
    """Seconds of the server's processor time per page of 100 calls."""
    request = load.get("/api/calls?limit=100", server.token)
    began = server.cpu_seconds
    done = asyncio.run(load.drive(server.port, 4, SECONDS, lambda _: itertools.repeat(request)))
    return (server.cpu_seconds - began) / (done.per_second * SECONDS * 1.1)


def grow(server: Served, made: list[str], count: int) -> None:
    """Put ended calls straight into the server's file."""
    db = connect(str(server.home / DATABASE))
    ((account,),) = db.execute("SELECT DISTINCT account_id FROM connections").fetchall()
    for start in range(0, count, 1_000):
        now = clock.now()
        db.execute("BEGIN IMMEDIATE")
        for number in range(start, min(start + 1_000, count)):
            crew = made[number % len(made)]
            call_id, chat_id = clock.new_id("call"), clock.new_id("chat")
            db.execute(_CHAT, (chat_id, crew))
            db.execute(_CALL, (call_id, crew, account, chat_id, account, now, now, now))
        db.execute("COMMIT")
        time.sleep(0)
    db.close()
