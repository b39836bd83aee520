"""The files its authors gave an agent stand in its folder when a turn begins (decision 0020)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentworks.runners import folders, placing
from agentworks.store import Transaction
from agentworks.tables import agent_files
from tests.conftest import World
from tests.turning import Turning, function, program, status


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


def put(turning: Turning, agent_id: str, **files: bytes) -> None:
    def save(tx: Transaction) -> None:
        for path, content in files.items():
            agent_files.put(tx, agent_id, path, content, hashlib.sha256(content).digest())

    turning.world.transact(save)


async def answer(turning: Turning) -> str:
    answered = await turning.settled((await turning.ask("Helper", "Go")).call_id)
    return str(answered.answer if status(answered) == "answered" else answered.reason)


def test_files_are_there_before_the_turn_and_programs_can_be_run(turning: Turning) -> None:
    agent_id = turning.crew("Helper", program("./run; stat -c %a run plain"))
    put(turning, agent_id, run=b"#!/bin/sh\necho ran\n", plain=b"text")

    async def scene() -> None:
        assert await answer(turning) == "ran\n700\n600"

    turning.play(scene)


def test_what_the_agent_made_of_a_file_stays_until_its_authors_change_it(turning: Turning) -> None:
    agent_id = turning.crew("Helper", program("cat notes; echo mine > notes"))
    put(turning, agent_id, notes=b"first\n")

    async def twice() -> None:
        assert [await answer(turning), await answer(turning)] == ["first", "mine"]

    turning.play(twice)
    after = Turning(turning.world, turning.root.parent)  # also when the server was started anew
    put(after, agent_id, other=b"x")

    async def again() -> None:
        assert await answer(after) == "mine"
        content = b"second\n"
        await after.world.store.transact(
            lambda tx: agent_files.put(
                tx, agent_id, "notes", content, hashlib.sha256(content).digest()
            )
        )
        assert await answer(after) == "second"

    after.play(again)


def test_a_file_that_was_taken_back_is_taken_away(turning: Turning) -> None:
    agent_id = turning.crew("Helper", program("ls"))
    put(turning, agent_id, one=b"1", two=b"2")

    async def scene() -> None:
        assert await answer(turning) == "one\noutputs\ntwo"
        await turning.world.store.transact(lambda tx: agent_files.remove(tx, agent_id, "one"))
        assert await answer(turning) == "outputs\ntwo"

    turning.play(scene)


def test_a_link_in_the_agents_folder_leads_nowhere(turning: Turning, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    agent_id = turning.crew("Helper", program("echo ran"))
    (turning.root / agent_id / "data").symlink_to(outside)
    put(turning, agent_id, **{"data/x": b"x"})

    async def scene() -> None:
        assert (await answer(turning)).startswith("it could not begin: ")

    turning.play(scene)
    assert list(outside.iterdir()) == []


def test_what_was_placed_is_remembered_out_of_reach_and_forgotten_when_torn(
    turning: Turning,
) -> None:
    agent_id = turning.crew("Helper", program("cat notes"))
    put(turning, agent_id, notes=b"first")

    async def scene() -> None:
        assert await answer(turning) == "first"

    turning.play(scene)
    assert set(placing.remembered(turning.root, agent_id)) == {"notes"}
    (memory,) = (turning.root / ".placed").iterdir()
    memory.write_text('{"notes": ')
    assert placing.remembered(turning.root, agent_id) == {}


def test_conversational_run_turns_write_outputs_only(
    turning: Turning, monkeypatch: pytest.MonkeyPatch
) -> None:
    confine, writable = folders.confinement, []

    def confinement(*given: Any, project_writable: bool, **more: Any) -> Any:
        writable.append(project_writable)
        return confine(*given, project_writable=project_writable, **more)

    monkeypatch.setattr(folders, "confinement", confinement)
    turning.crew("Helper", program("true"), offers=[function("work")], runners=["acc_bob"])

    async def scene() -> None:
        for who in ("worker", "bob"):
            await turning.settled((await turning.ask("Helper", "Go", who)).call_id, who)
            await turning.settled((await turning.call("Helper", "work", who)).call_id, who)

    turning.play(scene)
    assert writable == [True, True, False, True]
