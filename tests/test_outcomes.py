"""Everything a turn says is told once, in order, and comes to exactly one outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agentworks.runners import folders, nursery
from agentworks.runners.runtime import (
    Capabilities,
    Event,
    Failed,
    Final,
    NotStarted,
    Progress,
    Text,
    TimedOut,
    Told,
    Turn,
)
from agentworks.runners.supervisor import Execution
from tests.programs import (
    PATIENT,
    QUICK,
    Stage,
    run,
    shell,
)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    nursery.nursery()
    return Stage(tmp_path)


class Talker:
    """An in-process runtime that says what it is given."""

    name = "talker"

    def __init__(self, *events: Event | Exception | float) -> None:
        self.events = events
        self.stopped = False

    def probe(self) -> Capabilities:
        return Capabilities(available=True, why="a test")

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            if isinstance(event, float):
                await asyncio.sleep(event)
            else:
                yield event

    async def steer(self, text: str) -> bool:
        return False

    async def answer(self, request_id: str, answer: Any) -> bool:
        return False

    async def stop(self, grace: float) -> None:
        self.stopped = True


def execution(stage: Stage, talker: Talker, **more: Any) -> Execution:
    turn, made = stage.turn(**more)
    return Execution(talker, turn, more.get("tell", stage.tell), folders.confinement(made, "none"))


def test_the_first_terminal_event_is_the_only_one(stage: Stage) -> None:
    talker = Talker(Final("one"), Failed("two"), Final("three"), Text("four"))
    outcome = run(execution(stage, talker).run())
    assert (outcome.state, outcome.text) == ("answered", "one")
    assert stage.told == [Final("one")]


def test_a_runtime_that_ends_without_a_terminal_event_failed(stage: Stage) -> None:
    outcome = run(execution(stage, Talker(Text("so far"))).run())
    assert (outcome.state, outcome.partial) == ("failed", "so far")
    assert outcome.reason == "it ended without an answer"


@pytest.mark.parametrize(
    "fault", [NotStarted("claude is not installed"), ValueError("a bug")], ids=["refused", "bug"]
)
def test_a_runtime_that_raises_failed(stage: Stage, fault: Exception) -> None:
    outcome = run(execution(stage, Talker(Text("so far"), fault)).run())
    known = isinstance(fault, NotStarted)
    assert outcome.reason == (
        str(fault) if known else "the talker runtime broke; see the server's log"
    )
    assert (outcome.state, outcome.partial) == ("failed", "so far")


def test_a_runtime_that_hangs_is_stopped_and_cancelled(stage: Stage) -> None:
    talker = Talker(Text("so far"), 600.0)
    outcome = run(execution(stage, talker, limits=QUICK).run())
    assert (outcome.state, outcome.partial, talker.stopped) == ("timed_out", "so far", True)


def test_a_runtime_that_breaks_while_stopping_is_ended_all_the_same(stage: Stage) -> None:
    class Stubborn(Talker):
        async def stop(self, grace: float) -> None:
            raise RuntimeError("no")

    assert run(execution(stage, Stubborn(600.0), limits=QUICK).run()).state == "timed_out"


def test_a_program_that_lingers_after_its_answer_is_ended(stage: Stage) -> None:
    lingers = shell("""echo '{"type": "final", "text": "done"}'; exec sleep 600""")
    outcome = run(stage.perform({**lingers, "events": "jsonl"}, limits=QUICK))
    assert (outcome.state, outcome.text) == ("answered", "done")


def test_a_slow_record_loses_nothing_and_does_not_time_the_turn_out(stage: Stage) -> None:
    heard: list[str] = []

    async def slowly(told: Told) -> None:
        await asyncio.sleep(0.002)
        if isinstance(told, Progress):
            heard.append(told.text)

    async def scene() -> str:
        turn, made = stage.turn(limits=QUICK)
        line = """i=0
            while [ $i -lt 600 ]; do
                i=$((i+1)); printf '{"type":"progress","text":"%s"}\\n' $i
            done
            echo '{"type": "final", "text": "done"}'"""
        acting = stage.execution("command", {**shell(line), "events": "jsonl"}, turn, made, slowly)
        return (await acting.run()).text

    assert run(scene()) == "done"
    assert heard == [str(number) for number in range(1, 601)]


def test_a_record_that_breaks_ends_the_turn_and_is_not_hidden(stage: Stage) -> None:
    async def breaks(told: Told) -> None:
        raise RuntimeError("the disk is gone")

    async def scene() -> None:
        turn, made = stage.turn(limits=structs.replace(PATIENT, grace_seconds=0.1))
        script = shell("echo on; trap '' TERM; while :; do sleep 600; done")
        with pytest.raises(RuntimeError, match="the disk is gone"):
            await stage.execution("command", script, turn, made, breaks).run()

    run(scene())


def test_texts_are_made_fit_to_store_and_cut_to_their_limits(stage: Stage) -> None:
    talker = Talker(Progress("p" * 5_000), Text("a\0b"), Text("t" * 300_000), Failed("r\ud800"))
    outcome = run(execution(stage, talker).run())
    assert stage.told[0] == Progress("p" * 1_999 + "…")
    assert stage.told[1] == Text("a\ufffdb")
    assert outcome.reason == "r\ufffd"
    assert outcome.partial.endswith("t\n… (37,859 more characters)")


def test_timing_out_is_told_once(stage: Stage) -> None:
    run(execution(stage, Talker(600.0), limits=QUICK).run())
    assert [told for told in stage.told if isinstance(told, TimedOut)] == stage.told
