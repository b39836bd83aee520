"""Wakeups: another turn in that exact conversation, once, at its minute, unless it is held."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts.refusal import RefusalCode
from agentworks.contracts.turns import CANCEL_WAKEUP, RESCHEDULE_WAKEUP, SCHEDULE_WAKEUP
from agentworks.rules import limits
from agentworks.store import Transaction
from agentworks.tables import chats, turns, wakeups
from scheduler import JOBS
from scheduler.wakeups import Fired, fire_due_wakeups
from tests.conftest import MINUTE, World
from tests.programs import until
from tests.turning import WAIT, Turning, own_chat, program, scripted, status


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


class Sleeper:
    """A Crew that is in a turn of its own chat, and speaks with that turn's token."""

    def __init__(self, turning: Turning, script: str = "cat >> said; " + WAIT) -> None:
        self.turning = turning
        self.agent_id = turning.crew("Helper", program("echo $AGENTWORKS_TOKEN > token; " + script))
        self.chat_id = turning.world.transact(lambda tx: own_chat(tx, self.agent_id))
        self.begin()

    def begin(self) -> None:
        def queue(tx: Transaction) -> None:
            turns.queue(tx, self.chat_id, "trigger", None, "Go.")

        self.turning.world.transact(queue)

    async def act(self, operation: Any, **args: Any) -> Any:
        token = self.turning.folder("Helper") / "token"
        await until(lambda: token.exists() and token.read_text().endswith("\n"))
        return await self.turning.act(operation, token.read_text().strip(), **args)

    async def end(self) -> None:
        (self.turning.folder("Helper") / "go").touch()
        await self.turning.idle()

    def states(self) -> list[str]:
        found = self.turning.world.store.read(
            lambda db: db._db.execute(
                "SELECT state FROM wakeups ORDER BY made_at, wakeup_id"
            ).fetchall()
        )
        return [str(each[0]) for each in found[0]]


def due(world: World, minutes: int = 1, **more: Any) -> str:
    """A wakeup made by hand in the chat of a Crew that is not in a turn."""
    given = {"reason": "look", "account_id": "acc_ada", "connection_id": None, **more}
    return world.transact(lambda tx: wakeups.add(tx, due_at=tx.now + minutes * MINUTE, **given))


def swept(world: World) -> list[str]:
    return world.transact(fire_due_wakeups).wakeups


# ── scheduled, moved and cancelled by the agent itself ───────────────────────────────────────


def test_a_wakeup_is_another_turn_in_that_conversation(turning: Turning) -> None:
    sleeper = Sleeper(turning)

    async def scene() -> None:
        made = await sleeper.act(SCHEDULE_WAKEUP, reason="Is the build\ngreen?", in_minutes=5)
        assert (status(made), made.due_at) == ("scheduled", "2023-11-14T22:18:20.000Z")
        await sleeper.end()
        turning.world.now += 5 * MINUTE
        fired = await turning.world.store.transact(fire_due_wakeups)
        assert fired == Fired([made.wakeup_id])
        await until(lambda: turning.value("SELECT count(*) FROM turns WHERE state = 'ended'") == 2)

    turning.play(scene)
    said = (turning.folder("Helper") / "said").read_text()
    assert "You asked to be woken in this conversation." in said
    assert "wakeup wake_1, due 2023-11-14T22:18:20.000Z ---\nIs the build\ngreen?\n" in said
    assert sleeper.states() == ["fired"]
    assert turning.value("SELECT count(DISTINCT chat_id) FROM turns") == 1


def test_a_wakeup_may_be_moved_and_cancelled(turning: Turning) -> None:
    sleeper = Sleeper(turning)

    async def scene() -> None:
        made = await sleeper.act(SCHEDULE_WAKEUP, reason="look", in_minutes=5)
        moved = await sleeper.act(RESCHEDULE_WAKEUP, wakeup_id=made.wakeup_id, in_minutes=60)
        assert moved.due_at == "2023-11-14T23:13:20.000Z"
        for _ in range(2):  # cancelling it again changes nothing
            gone = await sleeper.act(CANCEL_WAKEUP, wakeup_id=made.wakeup_id)
            assert (status(gone), gone.wakeup_id) == ("cancelled", made.wakeup_id)
        late = await sleeper.act(RESCHEDULE_WAKEUP, wakeup_id=made.wakeup_id, in_minutes=60)
        assert late.code == RefusalCode.NOT_PENDING
        await sleeper.end()

    turning.play(scene)
    turning.world.now += 120 * MINUTE
    assert swept(turning.world) == []


def test_a_wakeup_that_has_come_cannot_be_cancelled(turning: Turning) -> None:
    sleeper = Sleeper(turning)

    async def scene() -> None:
        made = await sleeper.act(SCHEDULE_WAKEUP, reason="look", in_minutes=1)
        turning.world.now += MINUTE
        await turning.world.store.transact(fire_due_wakeups)
        late = await sleeper.act(CANCEL_WAKEUP, wakeup_id=made.wakeup_id)
        assert late.code == RefusalCode.NOT_PENDING
        await sleeper.end()

    turning.play(scene)


def test_a_wakeup_of_another_conversation_does_not_exist(turning: Turning) -> None:
    sleeper = Sleeper(turning)
    other = turning.crew("Other", scripted({"say": "Hm."}))
    chat_id = turning.world.transact(lambda tx: own_chat(tx, other))
    wakeup_id = due(turning.world, chat_id=chat_id)

    async def scene() -> None:
        refused = await sleeper.act(CANCEL_WAKEUP, wakeup_id=wakeup_id)
        assert refused.code == RefusalCode.NOT_FOUND
        await sleeper.end()

    turning.play(scene)
    assert sleeper.states() == ["scheduled"]


def test_a_conversation_waits_for_so_many_wakeups(turning: Turning) -> None:
    sleeper = Sleeper(turning)

    async def scene() -> None:
        for number in range(limits.WAKEUPS_PER_CHAT_MAX):
            made = await sleeper.act(SCHEDULE_WAKEUP, reason=f"{number}", in_minutes=5)
            assert status(made) == "scheduled"
        refused = await sleeper.act(SCHEDULE_WAKEUP, reason="one more", in_minutes=5)
        assert refused.code == RefusalCode.NOT_PERMITTED
        await sleeper.end()

    turning.play(scene)


# ── the sweep ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def chat_id(turning: Turning) -> str:
    agent_id = turning.crew("Helper", program("cat >> said"))
    return turning.world.transact(lambda tx: own_chat(tx, agent_id))


def test_it_is_swept_each_minute() -> None:
    (job,) = [each for each in JOBS if each.sweep is fire_due_wakeups]
    assert job.every_seconds == 60


def test_a_sweep_fires_what_is_due_once(turning: Turning, chat_id: str) -> None:
    world = turning.world
    first, second = due(world, 1, chat_id=chat_id), due(world, 2, chat_id=chat_id)
    assert swept(world) == []
    world.now += MINUTE
    assert swept(world) == [first]
    assert swept(world) == []
    world.now += MINUTE
    assert swept(world) == [second]
    assert turning.value("SELECT count(*) FROM turns") == 2


def test_several_that_are_due_in_one_chat_are_one_turn(turning: Turning, chat_id: str) -> None:
    world = turning.world
    made = [due(world, minutes, chat_id=chat_id, reason=f"r{minutes}") for minutes in (2, 1)]
    world.now += 10 * MINUTE
    assert swept(world) == made[::-1]

    async def scene() -> None:
        await until(lambda: turning.value("SELECT state FROM turns") == "ended")

    turning.play(scene)
    said = (turning.folder("Helper") / "said").read_text()
    assert said.index("r1") < said.index("r2")


@pytest.mark.parametrize("holder", ["store", "agents"])
def test_a_pause_holds_wakeups_until_it_ends(turning: Turning, chat_id: str, holder: str) -> None:
    world = turning.world
    made = due(world, chat_id=chat_id)
    world.transact(lambda tx: tx.run(f"UPDATE {holder} SET paused_at = 1"))
    world.now += 10 * MINUTE
    assert swept(world) == []
    world.transact(lambda tx: tx.run(f"UPDATE {holder} SET paused_at = NULL"))
    assert swept(world) == [made]


def test_the_pause_of_one_agent_holds_no_other(turning: Turning, chat_id: str) -> None:
    world = turning.world
    other = turning.crew("Other", scripted({"say": "Hm."}))
    made = due(world, chat_id=world.transact(lambda tx: own_chat(tx, other)))
    due(world, chat_id=chat_id)
    world.transact(lambda tx: tx.run("UPDATE agents SET paused_at = 1 WHERE name = 'Helper'"))
    world.now += MINUTE
    assert swept(world) == [made]


def test_a_wakeup_whose_access_is_gone_is_cancelled(turning: Turning, chat_id: str) -> None:
    world = turning.world
    due(world, chat_id=chat_id, connection_id="conn_worker")
    world.transact(lambda tx: tx.run("UPDATE connections SET revoked_at = 1"))
    world.now += MINUTE
    swept(world)

    async def scene() -> None:
        await until(lambda: turning.value("SELECT state FROM wakeups") == "cancelled")

    turning.play(scene)
    assert turning.value("SELECT state FROM turns") == "cancelled"


def test_a_call_has_no_later_and_so_no_wakeups(turning: Turning) -> None:
    agent_id = turning.crew("Helper", program("echo $AGENTWORKS_TOKEN > token; " + WAIT))

    def begin(tx: Transaction) -> None:
        chat_id = chats.begin(tx, agent_id, "builder", "call", None, "a call")
        turns.queue(tx, chat_id, "trigger", None, "Go.")

    turning.world.transact(begin)

    async def scene() -> None:
        token = turning.folder("Helper") / "token"
        await until(lambda: token.exists() and token.read_text().endswith("\n"))
        args = {"reason": "look", "in_minutes": 5}
        refused = await turning.act(SCHEDULE_WAKEUP, token.read_text().strip(), **args)
        assert refused.code == RefusalCode.NOT_PERMITTED

    turning.play(scene)
