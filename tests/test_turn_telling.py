"""What is said to a running turn is said once, and waiting for a person is no silence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from agentworks.runners.performing import Performance
from agentworks.runners.telling import News, Telling
from agentworks.store import Full, Store
from agentworks.tables.steers import Waiting
from tests.conftest import World
from tests.turning import WAIT, Turning, function, program, scripted, status, tells


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


class FullOnce:
    """A store that is full at first."""

    def __init__(self) -> None:
        self.written = 0

    async def transact(self, work: Any) -> None:
        self.written += 1
        if self.written == 1:
            raise Full


class Taking:
    """A running turn that takes all that is said to it."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def steer(self, text: str) -> bool:
        self.heard.append(text)
        return True


def test_a_steer_is_given_once_even_when_that_cannot_be_noted_at_first() -> None:
    store, taking = FullOnce(), Taking()
    performing = {"turn_1": cast(Performance, taking)}
    telling = Telling(cast(Store, store), performing)
    news = News([], [], [Waiting("turn_2", "call_1", "faster", "turn_1")])

    async def scene() -> None:
        with pytest.raises(Full):
            await telling.tell(news)
        await telling.tell(news)

    asyncio.run(scene())
    assert (taking.heard, store.written) == (["faster"], 2)


def test_waiting_for_a_person_is_no_silence(turning: Turning) -> None:
    turning.crew("Helper", scripted({"ask": "Sure?"}, {"say": "{{answer}}"}), idle_seconds=2)

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        call = await turning.until(asked.call_id, lambda call: bool(call.pending_inputs))
        await turning.pause(3.5)
        await turning.reply(asked.call_id, call.pending_inputs[0].request_id, "yes")
        answer = await turning.settled(asked.call_id)
        assert (status(answer), answer.answer) == ("answered", "yes")

    turning.play(scene)


def test_a_secret_that_cannot_be_told_goes_nowhere_else(turning: Turning) -> None:
    ask = tells({"type": "need_input", "request_id": "q", "question": "Code?", "kind": "secret"})
    final = WAIT + tells({"type": "final"})
    turning.crew("Helper", program(ask + final, events="jsonl"), offers=[function("work")])

    async def scene() -> None:
        called = await turning.call("Helper", "work")
        call = await turning.until(called.call_id, lambda call: bool(call.pending_inputs))
        await turning.reply(called.call_id, call.pending_inputs[0].request_id, "123456")
        await turning.until(called.call_id, lambda call: not call.pending_inputs)
        await turning.pause(0.2)
        (turning.folder("Helper") / "go").touch()
        assert status(await turning.settled(called.call_id)) == "completed"

    turning.play(scene)
    assert turning.value("SELECT answer FROM questions") == '"(told)"'
    assert turning.value("SELECT count(*) FROM turns") == 1


def test_stop_that_comes_after_the_answer_does_not_undo_it(turning: Turning) -> None:
    turning.crew("Helper", program(WAIT + "echo done"))
    tell = Telling.tell

    async def scene(monkeypatch: pytest.MonkeyPatch) -> None:
        asked = await turning.ask("Helper", "Go")
        await turning.until(asked.call_id, lambda call: call.activity != "")

        async def deaf(*_: Any) -> None:
            return None

        monkeypatch.setattr(Telling, "tell", deaf)
        await turning.ask("Helper", "stop", about=asked.call_id)
        (turning.folder("Helper") / "go").touch()
        assert (await turning.settled(asked.call_id)).answer == "done"
        monkeypatch.setattr(Telling, "tell", tell)

    with pytest.MonkeyPatch.context() as patch:
        turning.play(lambda: scene(patch))
    assert turning.value("SELECT count(*) FROM turns WHERE state = 'cancelled'") == 1
