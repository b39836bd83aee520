"""The folder in which PR Reviewer works, and short ways to its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts import files
from agentworks.runners import placing
from agentworks.tables import agent_files
from tests.conftest import World
from tests.office import REVIEWER


@pytest.fixture(name="folder")
def a_folder(world: World) -> Path:
    """The folder of PR Reviewer, in which it has already worked."""
    made = world.agents / REVIEWER
    for path, content in {
        "memory/log.md": "Saw PR 7.\nBe quick.\n",
        "outputs/report.md": "Two findings: be kind.\n",
        "outputs/.draft": "hidden",
        "scratch.txt": "mine",
        ".calls/call_1/out/result.json": "{}",
    }.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(content)
    return made


def placed(world: World, agent_id: str = REVIEWER) -> None:
    """As it is done before a turn."""
    listed, whole = world.transact(
        lambda tx: (agent_files.of_agent(tx, agent_id), agent_files.whole(tx, agent_id))
    )
    placing.place(world.agents, agent_id, listed, whole)


def paths(world: World, name: str = "ada", **args: Any) -> list[str]:
    answer = world.answer(files.LIST, name, target=REVIEWER, **args)
    return [each.path for each in answer.files]


def content(world: World, path: str, name: str = "ada", **args: Any) -> str:
    return str(world.answer(files.READ, name, target=REVIEWER, path=path, **args).content)


def write(world: World, path: str, text: str, name: str = "ada", **args: Any) -> Any:
    return world.answer(files.WRITE, name, target=REVIEWER, path=path, content=text, **args)


def code(answer: Any) -> str | None:
    return getattr(answer, "code", None)
