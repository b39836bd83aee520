"""The bells: they wake whoever waits, forget whoever leaves, and never miss a ring."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import Struct

from agentworks.bells import Bells
from agentworks.contracts.operation import OUTSIDE, Operation, WaitSeconds
from agentworks.contracts.refusal import RefusalCode
from agentworks.dispatch import Dispatch, Handler
from agentworks.rules import limits
from agentworks.store import Snapshot, Transaction
from tests.conftest import World
from tests.patience import asleep, send, soon, texts, waiting
from tests.shelf import listed, put


def test_waiters_are_forgotten_when_they_leave(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        readers = [waiting(world) for _ in range(30)]
        await asleep(world, 30)
        for reader in readers[:10]:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        assert (world.bells.waiters, world.bells._waiting) == (0, {})

    monkeypatch.setattr(limits, "WAIT_SECONDS_MAX", 0.1)
    world.run(scene())


def test_woken_waiters_are_forgotten_too(world: World) -> None:
    async def scene() -> None:
        readers = [waiting(world) for _ in range(30)]
        await asleep(world, 30)
        await send(world)
        await asyncio.gather(*readers)
        assert (world.bells.waiters, world.bells._waiting) == (0, {})

    world.run(scene())


def test_more_waiting_readers_than_the_limit_are_turned_away(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        readers = [waiting(world), waiting(world)]
        await asleep(world, 2)
        assert (await soon(waiting(world))).code is RefusalCode.UNAVAILABLE
        assert texts(await soon(waiting(world, seconds=0))) == []
        await send(world)
        for reader in readers:
            assert texts(await soon(reader)) == ["Ready?"]

    monkeypatch.setattr(limits, "WAITING_READERS_MAX", 2)
    world.run(scene())


def bells_at(scene: Callable[[Bells], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        return await scene(Bells())

    return asyncio.run(run())


def test_a_ring_after_the_ticket_is_never_missed_however_many_came_between() -> None:
    async def scene(bells: Bells) -> bool:
        ticket = bells.now()
        bells.ring(["inbox/1"])
        for number in range(50_000):
            bells.ring([f"inbox/other/{number}"])
        assert len(bells._last_rung) <= 20_000, "topics come and go: memory must not grow"
        return await bells.wait("inbox/1", ticket, 0.01)

    assert bells_at(scene) is True


def test_a_ring_before_the_ticket_wakes_nobody() -> None:
    async def scene(bells: Bells) -> bool:
        bells.ring(["inbox/1"])
        return await bells.wait("inbox/1", bells.now(), 0.01)

    assert bells_at(scene) is False


def test_when_another_process_has_committed_nobody_falls_asleep_on_old_news() -> None:
    async def scene(bells: Bells) -> bool:
        ticket = bells.now()
        bells.ring_all()
        return await bells.wait("inbox/1", ticket, 0.01)

    assert bells_at(scene) is True


# ── an operation that writes, then waits ─────────────────────────────────────────────────────


class Begin(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    wait_seconds: WaitSeconds = 0


class Look(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    wait_seconds: WaitSeconds = 0


class Seen(Struct, frozen=True, tag_field="status", tag="seen"):
    rows: int
    by: str


LOOK: Operation[Look, Seen] = Operation(
    name="test.look",
    about="Count what was begun.",
    request=Look,
    answers=(Seen,),
    scope=None,
    offered_to=OUTSIDE,
    reads=True,
)
BEGIN: Operation[Begin, Seen] = Operation(
    name="test.begin",
    about="Begin something, and wait for news of it.",
    request=Begin,
    answers=(Seen,),
    scope=None,
    offered_to=OUTSIDE,
)


def begun(db: Snapshot) -> int:
    return len(listed(db))


def begin(tx: Transaction, caller: Any, request: Begin) -> Seen:
    put(begun(tx))(tx)
    tx.wait_on("call/1", then=(LOOK, Look()))
    return Seen(begun(tx), by="begin")


def look(db: Snapshot, caller: Any, request: Look) -> Seen:
    return Seen(begun(db), by="look")


def beginning(world: World) -> asyncio.Task[Any]:
    dispatch = Dispatch(world.store, world.bells, [Handler(BEGIN, begin), Handler(LOOK, look)])
    who = world.who("worker")

    async def begin_and_wait() -> Any:
        return await dispatch(BEGIN, who, {"wait_seconds": 25})

    return asyncio.ensure_future(begin_and_wait())


def test_what_writes_is_performed_once_and_the_read_it_names_answers(world: World) -> None:
    async def scene() -> None:
        answer = beginning(world)
        await asleep(world)
        world.bells.ring(["call/1"])
        assert await soon(answer) == Seen(1, by="look")

    world.run(scene())


def test_news_that_came_with_the_same_commit_is_not_slept_through(world: World) -> None:
    async def scene() -> None:
        answer = beginning(world)
        await asyncio.gather(world.store.transact(lambda tx: tx.ring("call/1")), soon(answer))
        assert await answer == Seen(1, by="look")

    world.run(scene())


def test_what_was_written_is_answered_although_nobody_more_may_wait(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        assert await soon(beginning(world)) == Seen(1, by="begin")

    monkeypatch.setattr(limits, "WAITING_READERS_MAX", 0)
    world.run(scene())
