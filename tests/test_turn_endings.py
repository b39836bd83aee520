"""How turns end otherwise: out of time, stopped, without access, by a fault, with the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentworks.rules import limits
from agentworks.runners import performing
from agentworks.settling import STOPPED
from agentworks.store import Full, Transaction
from agentworks.tables import agents
from tests.conftest import World
from tests.programs import program as hostile
from tests.programs import until
from tests.turning import (
    WAIT,
    Turning,
    function,
    own_chat,
    program,
    scripted,
    status,
    tells,
)


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


def sql(text: str) -> Callable[[Transaction], None]:
    return lambda tx: tx.run(text)


def slots(turning: Turning) -> int:
    return int(turning.value("SELECT count(*) FROM calls WHERE holds_slot = 1"))


# ── out of time ──────────────────────────────────────────────────────────────────────────────


def test_a_late_answer_is_late_and_holds_its_slot_until_then(turning: Turning) -> None:
    late = {"name": "command", **hostile("late.py", "0.5", "answer")}
    turning.crew("Helper", late, offers=[function("work")], idle_seconds=1)

    async def scene() -> None:
        called = await turning.call("Helper", "work")
        over = await turning.settled(called.call_id)
        assert (status(over), over.reason) == ("timed_out", "no sign of life for 1 seconds")
        assert slots(turning) == 1
        answer = await turning.until(called.call_id, lambda call: status(call) == "late")
        assert answer.answer == "thinking\nlate answer"
        assert slots(turning) == 0

    turning.play(scene)


def test_a_call_that_never_answers_stays_timed_out_and_frees_its_slot(turning: Turning) -> None:
    turning.crew("Helper", program("echo hi; sleep 600"), offers=[function("work")], idle_seconds=1)

    async def scene() -> None:
        called = await turning.call("Helper", "work")
        assert status(await turning.settled(called.call_id)) == "timed_out"
        await until(lambda: slots(turning) == 0)
        over = await turning.get(called.call_id)
        assert (status(over), over.partial) == ("timed_out", "hi")

    turning.play(scene)
    assert turning.value("SELECT state FROM turns") == "failed"


def test_an_outcome_prompts_one_turn_and_a_late_one_no_second(turning: Turning) -> None:
    late = {"name": "command", **hostile("late.py", "0.3", "answer")}
    turning.crew("Helper", late, offers=[function("work")], idle_seconds=1)
    other = turning.crew("Other", scripted({"say": "Thanks."}))
    chat_id = turning.world.transact(lambda tx: own_chat(tx, other))

    async def scene() -> None:
        called = await turning.call("Helper", "work")
        set_chat = f"UPDATE calls SET notify_chat_id = '{chat_id}'"
        await turning.world.store.transact(sql(set_chat))
        assert status(await turning.settled(called.call_id)) == "timed_out"
        await turning.until(called.call_id, lambda call: status(call) == "late")
        await turning.idle()

    turning.play(scene)
    assert turning.value("SELECT count(*) FROM turns WHERE cause = 'notify'") == 1


# ── stopped and steered ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("word", ["stop", " Stop. "])
def test_stop_ends_a_running_call_with_its_work(turning: Turning, word: str) -> None:
    turning.crew("Helper", program("echo half; sleep 600"), offers=[function("work")])

    async def scene() -> None:
        called = await turning.call("Helper", "work")
        await turning.until(called.call_id, lambda call: call.activity == "writing its answer")
        await turning.ask("Helper", word, about=called.call_id)
        over = await turning.settled(called.call_id)
        assert (status(over), over.reason) == ("failed", "its caller said stop")
        assert over.partial == "half"

    turning.play(scene)
    assert turning.value("SELECT count(*) FROM turns WHERE state = 'steered'") == 1


def test_stop_ends_a_call_that_has_not_begun(turning: Turning) -> None:
    turning.crew("Helper", program("echo ran >> ran; " + WAIT))

    async def scene() -> None:
        first = await turning.ask("Helper", "One")
        second = await turning.ask("Helper", "Two")
        await turning.ask("Helper", "stop", about=second.call_id)
        over = await turning.settled(second.call_id)
        assert (status(over), over.reason) == ("failed", "its caller said stop")
        (turning.folder("Helper") / "go").touch()
        assert status(await turning.settled(first.call_id)) == "answered"
        assert (turning.folder("Helper") / "ran").read_text() == "ran\n"

    turning.play(scene)


def test_a_steer_reaches_the_running_turn_of_a_runtime_that_takes_it(turning: Turning) -> None:
    script = tells({"type": "progress", "text": "on"}) + "read -r first; read -r steer; "
    script += """printf '{"type":"final","text":"%s"}' "$(echo "$steer" | tr -d '{}\"')" """
    turning.crew("Helper", program(script, events="jsonl", steer=True))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        await turning.until(asked.call_id, lambda call: bool(call.progress))
        await turning.ask("Helper", "faster", about=asked.call_id)
        answer = await turning.settled(asked.call_id)
        assert answer.answer == "type:steer,text:faster"

    turning.play(scene)
    assert turning.value("SELECT count(*) FROM turns WHERE state = 'steered'") == 1


def test_a_steer_that_cannot_be_taken_is_the_next_turn_of_the_call(turning: Turning) -> None:
    script = "cat > said; [ -e began ] || { touch began; " + WAIT + "}; cat said"
    turning.crew("Helper", program(script), offers=[function("work")])

    async def scene() -> None:
        called = await turning.call("Helper", "work")
        await until(lambda: (turning.folder("Helper") / "began").exists())
        await turning.ask("Helper", "and faster", about=called.call_id)
        (turning.folder("Helper") / "go").touch()
        answer = await turning.settled(called.call_id)
        assert status(answer) == "completed"
        assert "and faster" in answer.answer
        assert slots(turning) == 0

    turning.play(scene)
    assert turning.value("SELECT count(*) FROM turns WHERE state = 'ended'") == 2


# ── what cannot begin, and faults ────────────────────────────────────────────────────────────


CANNOT: dict[str, tuple[dict[str, Any], str]] = {
    "no such runtime": ({"name": "psychic"}, "it could not begin: runtime must be one of: "),
    "wrong settings": ({"name": "command", "argv": []}, "it could not begin: argv: "),
    "no such program": (
        {"name": "command", "argv": ["nowhere-to-be-found"]},
        "it could not begin: the command runtime cannot run here: nowhere-to-be-found is not found",
    ),
}


@pytest.mark.parametrize("why", CANNOT)
def test_what_cannot_begin_fails_with_the_reason(turning: Turning, why: str) -> None:
    turning.crew("Helper", CANNOT[why][0], offers=[function("work")])

    async def scene() -> None:
        over = await turning.settled((await turning.call("Helper", "work")).call_id)
        assert (status(over), over.reason[: len(CANNOT[why][1])]) == ("failed", CANNOT[why][1])

    turning.play(scene)
    assert slots(turning) == 0


def test_a_fault_of_ours_fails_the_call_and_tells_an_id_alone(
    turning: Turning, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> str:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(performing, "prompt_of", broken)
    turning.crew("Helper", scripted({"say": "Yes."}))

    async def scene() -> None:
        over = await turning.settled((await turning.ask("Helper", "Go")).call_id)
        assert over.reason.startswith("a fault of the server, fault_")
        assert "secret" not in over.reason
        assert "secret detail" in caplog.text

    turning.play(scene)


def test_a_turn_that_cannot_be_taken_does_not_hold_up_the_others(
    turning: Turning, caplog: pytest.LogCaptureFixture
) -> None:
    turning.crew("Helper", scripted({"say": "Yes."}))
    turning.crew("Other", scripted({"say": "Yes."}))
    world = turning.world
    bad = world.run(turning.ask("Helper", "One"))
    world.transact(sql("UPDATE chats SET mode = 'run'"))
    world.transact(sql("PRAGMA ignore_check_constraints = on"))
    world.transact(sql("UPDATE chats SET mode = 'sideways'"))
    good = world.run(turning.ask("Other", "Two"))

    async def scene() -> None:
        assert status(await turning.settled(good.call_id)) == "answered"
        over = await turning.settled(bad.call_id)
        assert over.reason == "a fault of the server kept it from beginning; see its log"
        assert "sideways" in caplog.text

    turning.play(scene)


def test_an_ending_is_written_as_soon_as_the_store_can_write(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    turning.crew("Helper", program(WAIT + "echo done"))
    store = turning.world.store
    submit = store.submit

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        await until(lambda: turning.turns.running == 1)

        def full(work: Any) -> Any:
            raise Full

        monkeypatch.setattr(store, "submit", full)
        (turning.folder("Helper") / "go").touch()
        await asyncio.sleep(0.5)
        monkeypatch.setattr(store, "submit", submit)
        assert (await turning.settled(asked.call_id)).answer == "done"

    turning.play(scene)


def test_an_agent_that_is_removed_takes_its_running_turn_along(turning: Turning) -> None:
    agent_id = turning.crew("Helper", program("echo on; sleep 600"))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        await turning.until(asked.call_id, lambda call: call.activity == "writing its answer")
        await turning.world.store.transact(lambda tx: agents.remove(tx, agent_id))
        await turning.idle()

    turning.play(scene)
    assert turning.value("SELECT count(*) FROM turns") == 0


# ── the server stops ─────────────────────────────────────────────────────────────────────────


def test_a_server_that_stops_interrupts_what_runs_and_keeps_what_waits(turning: Turning) -> None:
    script = "echo x >> begun; " + tells({"type": "progress", "text": "half way"})
    turning.crew("Helper", program(script + "exec sleep 600", events="jsonl"))

    async def scene() -> tuple[str, str]:
        first = await turning.ask("Helper", "One")
        second = await turning.ask("Helper", "Two")
        await turning.until(first.call_id, lambda call: bool(call.progress))
        return first.call_id, second.call_id

    first_id, second_id = turning.play(scene)
    world = turning.world
    first, second = (world.run(turning.get(each)) for each in (first_id, second_id))
    assert (status(first), first.reason) == ("interrupted", STOPPED)
    assert first.last_progress == "half way"
    assert (status(second), second.queued_behind) == ("working", 0)
    assert turning.value("SELECT count(*) FROM turn_tokens") == 0


def test_a_program_that_ignores_the_end_of_its_server_is_killed(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STOP_GRACE_SECONDS", 0.2)
    deaf = "trap '' TERM; echo on; while :; do sleep 600; done"
    turning.crew("Helper", program(deaf))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        await turning.until(asked.call_id, lambda call: call.activity == "writing its answer")

    turning.play(scene)
    assert turning.value("SELECT state FROM calls") == "interrupted"
