"""Waiting readers: how soon a message wakes one, and what two thousand of them cost."""

from __future__ import annotations

import asyncio
import random
import statistics
import time

import uvloop

from bench import load
from bench.bounds import Ratio, at_most
from bench.serving import Served, served

MANY = 2_000
ROUNDS = 200
IDLE_SECONDS = 8.0
_MIB = 1024 * 1024


class Post:
    """Conversations with the reviewer, and how many messages each holds."""

    def __init__(self, server: Served, inboxes: list[str]) -> None:
        self._server = server
        self.inboxes = inboxes
        self._held = dict.fromkeys(inboxes, 1)

    def message(self, inbox: str) -> bytes:
        self._held[inbox] += 1
        body = {"inbox_id": inbox, "message": "x" * 300}
        return load.post("/api/messages", self._server.token, body)

    def wait(self, inbox: str) -> bytes:
        query = f"inbox_id={inbox}&agent_name=reviewer&after={self._held[inbox]}&wait_seconds=25"
        return load.get(f"/api/messages?{query}", self._server.reader)


def woken() -> list[Ratio]:
    with served() as server:
        return uvloop.run(measured(server, Post(server, server.inboxes(MANY))))


async def measured(server: Served, post: Post) -> list[Ratio]:
    (sender,) = await load.lines(server.port, 1)
    plain = await plain_sends(sender, post)
    alone = await wakes(server, sender, post, 1)
    before = server.memory
    many = await load.lines(server.port, MANY)
    for line, inbox in zip(many, post.inboxes, strict=True):
        line.ask(post.wait(inbox))
    await until_waiting(server, MANY)
    cost = (server.memory - before) / _MIB
    began = server.cpu_seconds
    await asyncio.sleep(IDLE_SECONDS)
    idle = (server.cpu_seconds - began) / IDLE_SECONDS * 100
    load.hang_up(many)
    await until_waiting(server, 0)
    crowd = await wakes(server, sender, post, MANY)
    load.hang_up([sender])
    return [
        at_most(
            "wake of one waiting reader, in plain sends",
            alone / plain,
            3,
            f"{alone * 1000:.2f} ms against {plain * 1000:.2f} ms, median of {ROUNDS}",
        ),
        at_most(
            f"the same among {MANY:,} waiting readers",
            crowd / plain,
            5,
            f"{crowd * 1000:.2f} ms against {plain * 1000:.2f} ms",
        ),
        at_most(f"processor time of {MANY:,} idle readers", idle, 1, "of one core", unit=" %"),
        at_most(f"memory of {MANY:,} idle readers", cost, 40, "resident", unit=" MB"),
    ]


async def plain_sends(sender: load.Line, post: Post) -> float:
    """Median seconds from a send to its receipt, with nobody waiting."""
    taken = []
    for n in range(ROUNDS):
        began = time.perf_counter()
        await sender.ask(post.message(post.inboxes[n % len(post.inboxes)]))
        taken.append(sender.arrived - began)
        await asyncio.sleep(0.002)
    return statistics.median(taken)


async def wakes(server: Served, sender: load.Line, post: Post, count: int) -> float:
    """Median seconds from a send to its arrival at the reader that waits for it."""
    readers = await load.lines(server.port, count)
    waiting = [
        reader.ask(post.wait(inbox)) for reader, inbox in zip(readers, post.inboxes, strict=False)
    ]
    await until_waiting(server, count)
    taken = []
    for _ in range(ROUNDS):
        n = random.randrange(count)
        began = time.perf_counter()
        await sender.ask(post.message(post.inboxes[n]))
        await asyncio.wait_for(waiting[n], 10)
        taken.append(readers[n].arrived - began)
        waiting[n] = readers[n].ask(post.wait(post.inboxes[n]))
        await asyncio.sleep(0.002)
    load.hang_up(readers)
    return statistics.median(taken)


async def until_waiting(server: Served, count: int) -> None:
    """Until the server counts so many waiting readers; those who left are noticed within 25 s."""
    while (await asyncio.to_thread(server.ask, "GET", "/health"))["waiting_readers"] != count:
        await asyncio.sleep(0.05)
