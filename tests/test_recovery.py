"""At start: what had begun is interrupted, what had not starts once, and nothing is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentworks import recovery
from agentworks.contracts.calls import REPLY
from agentworks.contracts.refusal import RefusalCode
from agentworks.contracts.turns import ASK_PERSON, REQUEST_INPUT
from agentworks.recovery import Recovered, before_turns, recover
from agentworks.settling import STOPPED
from agentworks.store import Full, Transaction
from agentworks.tables import wakeups
from scheduler.wakeups import fire_due_wakeups
from tests.conftest import MINUTE, World
from tests.programs import until
from tests.test_turn_messages import Lane
from tests.turning import Turning, function, own_chat, program, scripted, status, telling, tells


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


def vanish(turning: Turning, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on the runner writes nothing down: to the store it is as if it had been killed."""

    async def stay(*_: Any) -> None:
        return None

    monkeypatch.setattr(turning.turns, "_settle", stay)
    monkeypatch.setattr(turning.turns, "_look", stay)
    monkeypatch.setattr("agentworks.runners.turn_events.Recorder.finished", stay)


def _add_wakeup(tx: Transaction, given: Any) -> None:
    wakeups.add(tx, *given)


def recovered(turning: Turning) -> Recovered:
    return turning.world.transact(recover)


def test_a_call_that_ran_is_interrupted_with_its_last_progress(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tells({"type": "progress", "text": "half way"}) + "sleep 600"
    turning.crew("Helper", program(script, events="jsonl"), offers=[function("work")])

    async def scene() -> str:
        called = await turning.call("Helper", "work")
        await turning.until(called.call_id, lambda call: bool(call.progress))
        vanish(turning, monkeypatch)
        return str(called.call_id)

    call_id = turning.play(scene)
    assert turning.value("SELECT state FROM turns") == "running"
    found = recovered(turning)
    assert (len(found.interrupted), found.slots_freed, found.tokens_removed) == (1, 0, 0)
    call = turning.world.run(turning.get(call_id))
    assert (status(call), call.reason, call.last_progress) == ("interrupted", STOPPED, "half way")
    assert turning.value("SELECT holds_slot FROM calls") == 0
    assert turning.value("SELECT count(*) FROM turn_tokens") == 0
    assert recovered(turning) == Recovered([], 0, 0)


def test_a_call_that_had_timed_out_and_still_ran_is_interrupted(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "trap '' TERM; while :; do sleep 600; done"
    turning.crew("Helper", program(script), offers=[function("work")], idle_seconds=1)

    async def scene() -> str:
        called = await turning.call("Helper", "work")
        assert status(await turning.settled(called.call_id)) == "timed_out"
        vanish(turning, monkeypatch)
        return str(called.call_id)

    monkeypatch.setattr("agentworks.rules.limits.STOP_GRACE_SECONDS", 1.0)
    call_id = turning.play(scene)
    assert len(recovered(turning).interrupted) == 1
    assert status(turning.world.run(turning.get(call_id))) == "interrupted"
    assert turning.value("SELECT holds_slot FROM calls") == 0


def test_what_waits_behind_an_interrupted_turn_starts_once(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "echo x >> ran; [ -e again ] || sleep 600"
    turning.crew("Helper", program(script))

    async def scene() -> tuple[str, str, str]:
        first, second = [await turning.ask("Helper", text) for text in ("One", "Two")]
        await until(lambda: (turning.folder("Helper") / "ran").exists())
        added = await turning.ask("Helper", "and Three", about=first.call_id)
        vanish(turning, monkeypatch)
        return first.call_id, second.call_id, added.call_id

    first, second, _ = turning.play(scene)
    assert len(recovered(turning).interrupted) == 1
    (turning.folder("Helper") / "again").touch()
    after = Turning(turning.world, turning.root.parent)

    async def later() -> None:
        assert status(await after.settled(first)) == "interrupted"
        assert status(await after.settled(second)) == "answered"
        await after.idle()

    after.play(later)
    assert (turning.folder("Helper") / "ran").read_text() == "x\nx\n"
    assert turning.value("SELECT count(*) FROM turns WHERE state = 'cancelled'") == 1


def test_a_call_that_was_only_accepted_starts_once(turning: Turning) -> None:
    turning.crew("Helper", program("echo x >> ran"), offers=[function("work")])
    called = turning.world.run(turning.call("Helper", "work"))
    assert recovered(turning) == Recovered([], 0, 0)
    assert turning.value("SELECT holds_slot FROM calls") == 1

    async def scene() -> None:
        assert status(await turning.settled(called.call_id)) == "completed"

    turning.play(scene)
    assert (turning.folder("Helper") / "ran").read_text() == "x\n"


def test_an_immediate_question_ends_with_its_server_and_a_durable_one_does_not(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent_id = turning.crew("Helper", telling("cat >> said; [ -e again ] || sleep 600"))

    async def scene() -> tuple[str, str, str]:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        now = await turning.act(ASK_PERSON, token, question="Now?")
        later = await turning.act(REQUEST_INPUT, token, question="Which?")
        vanish(turning, monkeypatch)
        return asked.call_id, now.request_id, later.request_id

    call_id, now, later = turning.play(scene)
    assert len(recovered(turning).interrupted) == 1
    world = turning.world
    refused = world.run(turning.reply(call_id, now, "yes"))
    assert refused.code == RefusalCode.NOT_PENDING
    replied = world.answer(REPLY, "worker", call_id=call_id, request_id=later, answer="the blue")
    assert status(replied) == "replied"
    (turning.root / agent_id / "again").touch()
    after = Turning(world, turning.root.parent)

    async def told() -> None:
        await until(lambda: turning.value("SELECT count(*) FROM turns WHERE ended_at > 0") == 2)

    after.play(told)
    assert "the blue" in (turning.root / agent_id / "said").read_text()
    assert status(world.run(turning.get(call_id))) == "interrupted"


def test_a_slot_that_nothing_holds_is_freed(turning: Turning) -> None:
    turning.crew("Helper", scripted({"say": "Yes."}), offers=[function("work")])
    turning.world.run(turning.call("Helper", "work"))
    turning.world.transact(lambda tx: tx.run("DELETE FROM turns"))
    assert recovered(turning).slots_freed == 1
    assert turning.value("SELECT holds_slot FROM calls") == 0


def test_messages_that_were_being_delivered_are_interrupted_and_others_wait(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = Lane(turning, turning.crew("Helper", program("echo x >> ran; sleep 600")))
    lane.send("One.")

    async def scene() -> None:
        await until(lambda: lane.deliveries() == ["admitted"])
        await turning.world.store.transact(lambda tx: lane.put(tx, ["Two."], "conn_worker"))
        vanish(turning, monkeypatch)

    turning.play(scene)
    assert len(recovered(turning).interrupted) == 1
    assert lane.deliveries() == ["interrupted", "pending"]
    assert turning.value("SELECT count(*) FROM turns WHERE state = 'queued'") == 1


def test_wakeups_that_were_firing_are_interrupted_and_those_queued_still_come(
    turning: Turning,
) -> None:
    world = turning.world
    agent_id = turning.crew("Helper", scripted({"say": "Awake."}))
    chat_id = world.transact(lambda tx: own_chat(tx, agent_id))
    for number in (1, 2):
        world.now += MINUTE
        given = (chat_id, world.now, f"{number}", "acc_ada", None)
        world.transact(partial(_add_wakeup, given=given))
        world.transact(fire_due_wakeups)
    sql = "UPDATE turns SET state = 'running', account_id = 'acc_ada' WHERE place = 1"
    world.transact(lambda tx: tx.run(sql))
    assert len(recovered(turning).interrupted) == 1
    states = "SELECT group_concat(state) FROM (SELECT state FROM wakeups ORDER BY due_at)"
    assert turning.value(states) == "interrupted,firing"

    async def scene() -> None:
        await until(lambda: turning.value(states) == "interrupted,fired")
        await turning.idle()

    turning.play(scene)
    assert turning.value("SELECT count(*) FROM turns WHERE state = 'ended'") == 1


def test_nothing_begins_while_what_was_left_cannot_be_marked(
    turning: Turning, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recovery, "_AGAIN_SECONDS", 0)
    store, tries = turning.world.store, []
    transact = store.transact

    async def full_twice(work: Any) -> Any:
        tries.append(work)
        if len(tries) < 3:
            raise Full
        return await transact(work)

    async def orphans() -> list[str]:
        assert not tries  # programs are ended before anything is marked
        return ["sleep (4711)"]

    monkeypatch.setattr(store, "transact", full_twice)
    turning.world.run(before_turns(store, orphans))
    assert len(tries) == 3
    said = capsys.readouterr().err.splitlines()
    assert said == ["ended a program that an earlier server left: sleep (4711)"] + 2 * [
        "no turn begins yet: the store cannot write (Full)"
    ]
