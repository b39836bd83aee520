"""Waiting: who finds nothing to read sleeps, and nothing slips past while it falls asleep."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from agentworks.bells import Bells
from agentworks.contracts.messages import READ, SEND, UNREGISTER
from agentworks.contracts.refusal import RefusalCode, Refused
from agentworks.dispatch import Dispatch
from agentworks.rules import limits
from agentworks.store import Transaction
from agentworks.tables import registrations
from handlers import HANDLERS
from tests.conftest import World
from tests.patience import REVIEWER, ask, asleep, send, soon, texts, waiting


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits longer than a tenth of a second, whatever they ask for."""
    monkeypatch.setattr(limits, "WAIT_SECONDS_MAX", 0.1)


# ── being woken ──────────────────────────────────────────────────────────────────────────────


def test_a_message_between_reading_and_waiting_wakes_the_reader(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds, slowest = 200, 0.0
    wait = world.bells.wait

    async def interrupted(topic: str, since: int, seconds: float) -> bool:
        await send(world, "in between")
        return await wait(topic, since, seconds)

    async def scene() -> None:
        nonlocal slowest
        cursor = 0
        for _ in range(rounds):
            began = time.monotonic()
            page = await soon(waiting(world, cursor))
            slowest = max(slowest, time.monotonic() - began)
            assert texts(page) == ["in between"]
            cursor = page.next_cursor

    monkeypatch.setattr(world.bells, "wait", interrupted)
    world.run(scene())
    assert slowest < 1


def test_two_readers_of_one_mailbox_are_both_woken(world: World) -> None:
    async def scene() -> None:
        readers = [waiting(world), waiting(world)]
        await asleep(world, 2)
        await send(world, "Both of you")
        assert [texts(await soon(each)) for each in readers] == [["Both of you"], ["Both of you"]]

    world.run(scene())


def test_a_message_in_the_middle_of_a_short_wait_ends_it(world: World) -> None:
    async def scene() -> None:
        began = time.monotonic()
        reader = waiting(world, seconds=1)
        await asyncio.sleep(0.5)
        await send(world)
        assert texts(await soon(reader)) == ["Ready?"]
        assert time.monotonic() - began < 1

    world.run(scene())


def test_who_opened_an_inbox_is_woken_by_the_answer_and_not_by_its_own_words(
    world: World,
) -> None:
    async def scene() -> None:
        inbox_id = (await send(world)).inbox_id
        args = {"inbox_id": inbox_id, "wait_seconds": 25}
        opener = asyncio.ensure_future(ask(world, READ, "laptop", **args))
        await asleep(world)
        await ask(world, SEND, "laptop", inbox_id=inbox_id, message="Still there?")
        await asyncio.sleep(0.01)
        assert not opener.done()
        args = {"inbox_id": inbox_id, "agent_name": "reviewer", "message": "Here"}
        await ask(world, SEND, "reviewer", **args)
        assert texts(await soon(opener)) == ["Here"]

    world.run(scene())


def test_a_sender_who_hangs_up_still_wakes_the_reader(world: World) -> None:
    async def scene() -> None:
        reader = waiting(world)
        await asleep(world)
        sender = asyncio.ensure_future(send(world, "Gone"))
        await asyncio.sleep(0)
        sender.cancel()
        assert texts(await soon(reader)) == ["Gone"]

    world.run(scene())


def test_a_batch_wakes_its_readers_once_it_is_stored(world: World) -> None:
    async def scene() -> None:
        readers = [waiting(world) for _ in range(20)]
        await asleep(world, 20)
        await asyncio.gather(*(send(world, f"message {number}") for number in range(20)))
        for reader in readers:
            assert 1 <= len(texts(await soon(reader))) <= 20

    world.run(scene())


def test_a_message_stored_by_another_process_wakes_the_reader_within_two_seconds(
    world: World,
) -> None:
    async def scene() -> None:
        reader = waiting(world)
        await asleep(world)
        began = time.monotonic()
        args = {"target": REVIEWER, "message": "From elsewhere"}
        await elsewhere(SEND, world.who("laptop"), args)
        assert texts(await soon(reader)) == ["From elsewhere"]
        assert time.monotonic() - began < 2

    other = world.open()
    elsewhere = Dispatch(other, Bells(), HANDLERS)
    world.run(scene())
    other.close()


# ── the end of patience ──────────────────────────────────────────────────────────────────────


def test_patience_ends_with_an_empty_page(world: World, impatient: None) -> None:
    async def scene() -> None:
        page = await soon(waiting(world, 7, 1))
        assert (page.messages, page.next_cursor) == ([], 7)

    world.run(scene())


@pytest.mark.parametrize("seconds", [26, 3_600, 2**53])
def test_a_longer_wait_than_the_limit_is_the_limit(
    world: World, impatient: None, seconds: int
) -> None:
    began = time.monotonic()
    page = world.run(waits(world, seconds))
    assert texts(page) == []
    assert 0.1 <= time.monotonic() - began < 1


async def waits(world: World, seconds: int) -> Any:
    return await soon(waiting(world, seconds=seconds))


def test_who_does_not_wait_is_answered_at_once(world: World) -> None:
    began = time.monotonic()
    assert texts(world.run(waits(world, 0))) == []
    assert time.monotonic() - began < 0.5


def revoke(tx: Transaction) -> None:
    tx.run("UPDATE connections SET revoked_at = :now", now=tx.now)


def expire(tx: Transaction) -> None:
    tx.run("UPDATE connections SET expires_at = :now", now=tx.now)


def disable(tx: Transaction) -> None:
    tx.run("UPDATE accounts SET disabled_at = :now", now=tx.now)


def narrow(tx: Transaction) -> None:
    tx.run("UPDATE connections SET scopes = 'run' WHERE connection_id = 'conn_reviewer'")


def take_the_name(tx: Transaction) -> None:
    tx.run("DELETE FROM registration_connections")


SHUT_OUT = [
    pytest.param(revoke, RefusalCode.NOT_SIGNED_IN, id="revoked"),
    pytest.param(expire, RefusalCode.NOT_SIGNED_IN, id="expired"),
    pytest.param(disable, RefusalCode.NOT_SIGNED_IN, id="account disabled"),
    pytest.param(narrow, RefusalCode.NOT_PERMITTED, id="scope taken"),
    pytest.param(take_the_name, RefusalCode.NOT_PERMITTED, id="name taken"),
]


@pytest.mark.parametrize(("shut", "code"), SHUT_OUT)
def test_who_is_shut_out_while_waiting_gets_no_page_when_a_message_comes(
    world: World, shut: Callable[[Transaction], None], code: RefusalCode
) -> None:
    def shut_and_store(tx: Transaction) -> None:
        shut(tx)
        named = registrations.by_name(tx, "acc_ada", "reviewer")
        assert named is not None
        tx.ring(named.bell)

    async def scene() -> None:
        reader = waiting(world)
        await asleep(world)
        await world.store.transact(shut_and_store)
        refused = await soon(reader)
        assert (type(refused), refused.code) == (Refused, code)

    world.run(scene())


@pytest.mark.parametrize(("shut", "code"), SHUT_OUT)
def test_who_is_shut_out_while_waiting_gets_no_page_when_patience_ends(
    world: World, impatient: None, shut: Callable[[Transaction], None], code: RefusalCode
) -> None:
    async def scene() -> None:
        reader = waiting(world)
        await asleep(world)
        await world.store.transact(shut)
        refused = await soon(reader)
        assert (type(refused), refused.code) == (Refused, code)

    world.run(scene())


def test_a_name_that_is_unregistered_ends_the_wait(world: World) -> None:
    async def scene() -> None:
        reader = waiting(world)
        await asleep(world)
        await ask(world, UNREGISTER, "reviewer", agent_name="reviewer")
        assert (await soon(reader)).code is RefusalCode.NOT_FOUND

    world.run(scene())
