"""Outputs of calls are kept for seven days; the record of the call stays ([S0])."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentworks.contracts.calls import READ_FILE
from agentworks.contracts.refusal import RefusalCode
from agentworks.runners.sweeping import Sweeper
from tests.conftest import World
from tests.programs import until
from tests.turning import Turning, function, program, status

WEEK, DAY = 7 * 86_400, 86_400  # seconds


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


def age(folder: Path, seconds: float) -> None:
    """Make a call's folder, and those in it, look as if nothing had changed for so long."""
    moment = time.time() - seconds
    for each in (*folder.iterdir(), folder):
        os.utime(each, (moment, moment))


async def call(turning: Turning) -> str:
    called = await turning.call("Helper", "work")
    assert status(await turning.settled(called.call_id)) == "completed"
    return str(called.call_id)


def test_outputs_go_after_a_week_and_the_record_says_so(turning: Turning) -> None:
    script = "echo x > $FUNCTION_OUTPUT_DIR/x; echo done"
    turning.crew("Helper", program(script), offers=[function("work")])
    base = turning.folder("Helper") / ".calls"

    async def first() -> tuple[str, str]:
        return await call(turning), await call(turning)

    old, young = turning.play(first)
    age(base / old, WEEK + 60)
    age(base / young, WEEK - DAY)
    after = Turning(turning.world, turning.root.parent)

    async def then() -> None:
        fresh = await call(after)
        await until(lambda: not (base / old).exists())
        assert {each.name for each in base.iterdir()} == {young, fresh}
        refused = await after.act(READ_FILE, "worker", call_id=old, file="x")
        assert refused.code == RefusalCode.EXPIRED
        kept = await after.get(old)
        assert (status(kept), kept.answer) == ("completed", "done")
        page = await after.act(READ_FILE, "worker", call_id=young, file="x")
        assert page.content == "x\n"

    after.play(then)


def test_a_crew_is_swept_at_most_hourly(turning: Turning, monkeypatch: pytest.MonkeyPatch) -> None:
    turning.crew("Helper", program("echo done"), offers=[function("work")])
    swept: list[str] = []

    async def sweep(sweeper: Sweeper, agent_id: str, before: int) -> None:
        swept.append(agent_id)

    monkeypatch.setattr(Sweeper, "_sweep", sweep)

    async def scene() -> None:
        for _ in range(3):
            await call(turning)
        await turning.idle()

    turning.play(scene)
    assert len(swept) == 1


def test_what_may_still_run_is_protected(turning: Turning) -> None:
    agent_id = turning.crew("Helper", program("echo done"), offers=[function("work")])
    called = turning.world.run(turning.call("Helper", "work"))
    folder = turning.root / agent_id / ".calls" / called.call_id / "out"
    folder.mkdir(parents=True)
    age(folder.parent, 2 * WEEK)
    turning.world.run(Sweeper(turning.world.store, turning.root).after_activity(agent_id))
    assert folder.exists()
    turning.world.transact(
        lambda tx: tx.run("UPDATE calls SET state = 'timed_out', settled_at = 1")
    )
    turning.world.run(Sweeper(turning.world.store, turning.root).after_activity(agent_id))
    assert folder.exists()  # it has timed out, and still holds its slot
    turning.world.transact(lambda tx: tx.run("UPDATE calls SET holds_slot = 0"))
    turning.world.run(Sweeper(turning.world.store, turning.root).after_activity(agent_id))
    assert not folder.exists()
