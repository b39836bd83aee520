"""The result contract with real programs: they correct, refuse, and come late."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agentworks.rules import results as rules
from agentworks.runners import nursery
from agentworks.runners.outcomes import Outcome
from agentworks.runners.results import fulfil
from agentworks.runners.runtime import Turn
from tests.programs import QUICK, Stage, program, run, shell

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}
CHECK = functools.partial(rules.result_problems, SCHEMA)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    nursery.nursery()
    return Stage(tmp_path)


def fulfilled(stage: Stage, settings: dict[str, Any], **more: Any) -> Outcome:
    async def scene() -> Outcome:
        turn, made = stage.turn(result_schema=SCHEMA, **more)

        async def perform(turn: Turn) -> Outcome:
            return await stage.execution("command", settings, turn, made, stage.tell).run()

        return await fulfil(perform, turn, made, CHECK)

    return run(scene())


def test_a_program_corrects_its_result(stage: Stage) -> None:
    script = """case "$(cat)" in
        *"must be an integer"*) echo '{"n": 2}' > $FUNCTION_RESULT_FILE; echo mended;;
        *) echo '{"n": "2"}' > $FUNCTION_RESULT_FILE; echo wrong;;
    esac"""
    outcome = fulfilled(stage, shell(script))
    assert (outcome.state, outcome.result, outcome.text) == ("completed", {"n": 2}, "mended")


def test_a_program_that_exits_before_its_result_failed_with_its_answer(stage: Stage) -> None:
    outcome = fulfilled(stage, shell("echo I would rather not"))
    assert (outcome.state, outcome.partial) == ("failed", "I would rather not")


def test_a_result_written_after_the_timeout_is_late(stage: Stage) -> None:
    settings = program("late.py", "0.1", "file")
    outcome = fulfilled(stage, settings, limits=structs.replace(QUICK, grace_seconds=1))
    assert (outcome.state, outcome.result) == ("late", {"n": 7})
