"""Definitions as authors write them, and short ways to save and read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentworks.contracts import crews
from agentworks.contracts.crews import Applied, Exported
from agentworks.contracts.refusal import Refused
from agentworks.store import Transaction
from tests.conftest import World

REVIEWER = "11111111-1111-4111-8111-111111111111"
NOTES = "22222222-2222-4222-8222-222222222222"
VAULT = "55555555-5555-4555-8555-555555555555"

SCRIPTED = {"name": "scripted", "otherwise": [{"say": "Done."}]}
COMMAND = {"name": "command", "argv": ["python3", "review.py"]}


@pytest.fixture(name="world")
def a_world(tmp_path: Path) -> Iterator[World]:
    """Ada's two Crews and her code agent, Bob's two; see fixtures/worlds/crews.sql."""
    made = World(tmp_path, "crews")
    yield made
    made.close()


def crew(name: str = "Helpdesk", **more: Any) -> dict[str, Any]:
    """A definition as crew.toml has it."""
    return {"name": name, **more}


def full() -> dict[str, Any]:
    """A definition that says something in every field."""
    return crew(
        about="Answers what people ask.",
        instructions="Be brief.\nBe kind.",
        messaging=False,
        idle_minutes=5,
        runtime=SCRIPTED,
        members={"bob": "runner", "cleo": "editor"},
        functions=[
            {
                "name": "lookup",
                "description": "Look something up.",
                "inputs": [
                    {"name": "QUERY", "type": "string", "required": True, "examples": ["vpn"]},
                    {"name": "LIMIT", "type": "integer", "default": 10**30},
                    {"name": "NOTE", "type": "string", "nullable": True, "default": None},
                ],
                "result_schema": {"type": "object", "properties": {"n": {"const": None}}},
                "allowed_callers": ["account:acc_bob", f"crew:{REVIEWER}"],
                "instructions": "Search first.",
            },
            {"name": "escalate"},
        ],
        triggers=[{"id": "daily", "conversation": "fresh"}, {"id": "weekly"}],
    )


def apply(world: World, name: str, definition: Any, **more: Any) -> Applied:
    answer = world.answer(crews.APPLY, name, definition=definition, **more)
    assert isinstance(answer, Applied), answer
    return answer


def problems(world: World, name: str, definition: Any, **more: Any) -> list[str]:
    """Everything wrong with a definition, as its author is told."""
    answer = world.answer(crews.APPLY, name, definition=definition, **more)
    assert isinstance(answer, Refused), answer
    return answer.problems


def exported(world: World, name: str, target: str) -> Exported:
    answer = world.answer(crews.EXPORT, name, target=target)
    assert isinstance(answer, Exported), answer
    return answer


def definition(world: World, name: str, target: str) -> dict[str, Any]:
    """An agent's definition as it would be applied again."""
    found: dict[str, Any] = msgspec.to_builtins(exported(world, name, target).definition)
    return found


def file(path: str, content: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "content": content, **more}


def rows(world: World, *tables: str) -> list[Any]:
    """The rows of these tables; without any, all that definitions are kept in."""
    every = tables or ("agents", "members", "functions", "triggers", "agent_files")

    def read(tx: Transaction) -> list[Any]:
        return [tx._db.execute(f"SELECT * FROM {table}").fetchall() for table in every]

    return world.transact(read)
