"""Who may begin when: slots of a Crew, turns of the server, and that a turn is taken once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts.functions import CALL
from agentworks.contracts.turns import REQUEST_INPUT
from agentworks.rules import limits
from agentworks.runners.turn_claims import claim
from tests.conftest import World
from tests.programs import until
from tests.turning import WAIT, Turning, function, scripted, status, telling, tells


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


async def parked(turning: Turning) -> tuple[str, str]:
    """A call of Helper that waits for a person, with nothing alive: its id, and the question's."""
    called = await turning.call("Helper", "work")
    token = await turning.token(called.call_id)
    request = await turning.act(REQUEST_INPUT, token, question="Which?")
    (turning.folder("Helper") / "go").touch()
    await turning.idle()
    (turning.folder("Helper") / "go").unlink()
    return called.call_id, request.request_id


def patient() -> dict[str, Any]:
    return telling(WAIT + tells({"type": "final", "text": "done"}))


def test_a_call_that_goes_on_waits_for_a_free_slot_and_holds_up_nobody_else(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CREW_CALLS_RUNNING_MAX", 1)
    monkeypatch.setattr(limits, "TURNS_RUNNING_MAX", 2)
    turning.crew("Helper", patient(), offers=[function("work")])
    turning.crew("Other", scripted({"say": "Yes."}))

    async def scene() -> None:
        call_id, request_id = await parked(turning)
        running = await turning.call("Helper", "work")
        assert status(running) == "working"  # the one that waits for a person holds no slot
        await turning.token(running.call_id)
        await turning.reply(call_id, request_id, "the blue")
        await until(lambda: turning.value("SELECT count(*) FROM turns WHERE cause = 'answer'") == 1)
        other = await turning.ask("Other", "Ready?")
        assert status(await turning.settled(other.call_id)) == "answered"
        assert turning.value("SELECT state FROM turns WHERE cause = 'answer'") == "queued"
        assert status(await turning.call("Helper", "work")) == "busy"
        (turning.folder("Helper") / "go").touch()
        assert status(await turning.settled(running.call_id)) == "completed"
        assert status(await turning.settled(call_id)) == "completed"

    turning.play(scene)
    assert turning.value("SELECT count(*) FROM calls WHERE holds_slot = 1") == 0


def test_a_call_that_goes_on_takes_its_slot_again(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CREW_CALLS_RUNNING_MAX", 1)
    turning.crew("Helper", patient(), offers=[function("work")])

    async def scene() -> None:
        call_id, request_id = await parked(turning)
        await turning.reply(call_id, request_id, "the blue")
        await until(
            lambda: turning.value("SELECT count(*) FROM turns WHERE state = 'running'") == 1
        )
        assert status(await turning.call("Helper", "work")) == "busy"
        (turning.folder("Helper") / "go").touch()
        assert status(await turning.settled(call_id)) == "completed"

    turning.play(scene)


def test_a_call_within_a_call_is_not_held_up_by_what_waits_for_it(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "TURNS_RUNNING_MAX", 1)
    turning.crew("Helper", patient(), offers=[function("work")])
    turning.crew("Worker", scripted({"say": "done"}), offers=[function("work")])

    async def scene() -> None:
        outer = await turning.call("Helper", "work")
        token = await turning.token(outer.call_id)
        waiting = await turning.ask("Worker", "Me too?")
        args = {"target": "Worker", "function": "work", "wait_seconds": 10}
        inner = await turning.act(CALL, token, **args)
        assert status(inner) == "completed"
        assert status(await turning.get(waiting.call_id)) == "working"
        (turning.folder("Helper") / "go").touch()
        assert status(await turning.settled(outer.call_id)) == "completed"
        assert status(await turning.settled(waiting.call_id)) == "answered"

    turning.play(scene)


def test_a_turn_is_taken_once(turning: Turning) -> None:
    turning.crew("Helper", scripted({"say": "Yes."}))
    world = turning.world
    world.run(turning.ask("Helper", "One"))
    world.run(turning.ask("Helper", "Two"))
    first, second = (
        turning.value("SELECT turn_id FROM turns WHERE place = :place", place=place)
        for place in (1, 2)
    )
    assert world.transact(partial(claim, turn_id=first, secret_hash=b"1")) is not None
    assert world.transact(partial(claim, turn_id=first, secret_hash=b"2")) is None
    assert world.transact(partial(claim, turn_id="turn_unknown", secret_hash=b"3")) is None
    with pytest.raises(Exception, match=r"turns\.chat_id"):  # the schema allows one in a chat
        world.transact(partial(claim, turn_id=second, secret_hash=b"4"))
    assert turning.value("SELECT count(*) FROM turn_tokens") == 1


def test_a_turn_whose_call_was_removed_is_not_taken(turning: Turning) -> None:
    turning.crew("Helper", scripted({"say": "Yes."}))
    world = turning.world
    world.run(turning.ask("Helper", "One"))
    turn_id = turning.value("SELECT turn_id FROM turns")
    world.transact(lambda tx: tx.run("DELETE FROM agents"))
    assert world.transact(partial(claim, turn_id=turn_id, secret_hash=b"1")) is None
