"""Durable sends over HTTP: against a route that does nothing, other settings and other designs."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator

import uvloop

from bench import load, raw
from bench.bounds import Ratio, at_least, at_most
from bench.serving import Served, served

CALLERS = 32
SECONDS = 4.0
TEXT = "x" * 300
_MIB = 1024 * 1024
_numbers = itertools.count()  # no two sends of a bench are a retry of one another


def sending(server: Served, inboxes: list[str], path: str = "/api/messages") -> load.Measured:
    def requests(caller: int) -> Iterator[bytes]:
        for n in itertools.count():
            inbox = inboxes[(caller * 31 + n) % len(inboxes)]
            body = {
                "inbox_id": inbox,
                "message": TEXT,
                "submission_id": f"s-{next(_numbers)}",
            }
            yield load.post(path, server.token, body)

    return uvloop.run(load.drive(server.port, CALLERS, SECONDS, requests))


def nothing(server: Served) -> load.Measured:
    body = {"inbox_id": "inbox_0", "message": TEXT, "submission_id": "s"}
    request = load.post("/bench/nothing", server.token, body)
    return uvloop.run(
        load.drive(server.port, CALLERS, SECONDS, lambda _: itertools.repeat(request))
    )


def against_nothing() -> list[Ratio]:
    """Sends and a do-nothing POST of the same server, alternating in one run."""
    with served() as server:
        inboxes = server.inboxes(500)
        pairs = [(sending(server, inboxes), nothing(server)) for _ in range(3)]
        while len(inboxes) and server.ask("GET", "/health")["database_bytes"] < 60 * _MIB:
            sending(server, inboxes)
        memory = server.memory
    sends = statistics.median(each.per_second for each, _ in pairs)
    idle = statistics.median(each.per_second for _, each in pairs)
    tails = statistics.median(each.p99 / each.p50 for each, _ in pairs)
    return [
        at_least(
            "durable sends, share of a do-nothing POST",
            sends / idle,
            0.60,
            f"{sends:,.0f}/s of {idle:,.0f}/s, {CALLERS} callers",
        ),
        at_most("p99 of a send in p50s", tails, 5, f"median of {len(pairs)}"),
        at_most("server memory after 100,000 sends", memory / _MIB, 120, "resident", unit=" MB"),
    ]


def full_against_off() -> list[Ratio]:
    """`synchronous=FULL` and `OFF`, five alternating runs of each."""
    rates: dict[str, list[float]] = {"FULL": [], "OFF": []}
    for _ in range(5):
        for synchronous, found in rates.items():
            with served(synchronous=synchronous) as server:
                found.append(sending(server, server.inboxes(500)).per_second)
    full, off = (statistics.median(found) for found in rates.values())
    return [
        at_least(
            "FULL, share of OFF", full / off, 0.80, f"{full:,.0f}/s of {off:,.0f}/s, median of 5"
        )
    ]


def group_commit_against_threads() -> list[Ratio]:
    """Group commit, and sync handlers with one transaction per request."""
    with served() as server:
        ours = sending(server, server.inboxes(500)).per_second
    with served("threads") as server:
        theirs = threads(server)
    return [
        at_least(
            "sends, times sync handlers with a transaction each",
            ours / theirs,
            4,
            f"{ours:,.0f}/s against {theirs:,.0f}/s",
        )
    ]


def threads(server: Served) -> float:
    inboxes = raw.open_inboxes(server.home, 500)
    return sending(server, inboxes, "/bench/send").per_second


def batches() -> list[Ratio]:
    """Bodies of 50 messages, against the same rows written by apsw with nothing around it."""
    with served() as server:
        inboxes = server.inboxes(500)

        def requests(caller: int) -> Iterator[bytes]:
            while True:
                items = [
                    {
                        "inbox_id": inboxes[next(_numbers) % len(inboxes)],
                        "message": TEXT,
                        "submission_id": f"b-{next(_numbers)}",
                    }
                    for _ in range(50)
                ]
                yield load.post("/api/messages/batch", server.token, {"messages": items})

        ours = uvloop.run(load.drive(server.port, 2, SECONDS, requests)).per_second * 50
    limit = raw.group_commit(SECONDS, TEXT)
    return [
        at_least(
            "messages in bodies of 50, share of raw apsw",
            ours / limit,
            0.50,
            f"{ours:,.0f}/s of {limit:,.0f}/s, the same rows and indexes",
        )
    ]
