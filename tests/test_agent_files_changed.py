"""Files of an agent written and taken away, by those who may."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts import crews, files
from agentworks.contracts.operation import Operation
from agentworks.rules import limits
from tests import agent_folder, office
from tests.agent_folder import code, content, paths, write
from tests.conftest import World
from tests.office import COMMAND, REVIEWER, apply, definition, exported, file, rows

a_world = office.a_world


a_folder = agent_folder.a_folder


# ── writing ──────────────────────────────────────────────────────────────────────────────────


def test_a_written_file_is_part_of_the_definition(world: World, golden: Any) -> None:
    assert golden == [
        world.call(files.WRITE, "cleo", target="PR Reviewer", path="knowledge/new.md", content=each)
        for each in ("one", "two")
    ]
    assert [each.path for each in exported(world, "ada", REVIEWER).files] == [
        "knowledge/new.md",
        "knowledge/style.md",
    ]


def test_memory_is_written_to_the_folder_and_is_in_no_definition(
    world: World, folder: Path
) -> None:
    answer = write(world, "memory/new.md", "Remember.")
    assert (answer.created, (folder / "memory/new.md").read_text()) == (True, "Remember.")
    assert not write(world, "memory/new.md", "Again.").created
    assert content(world, "memory/new.md") == "Again."
    assert all("memory" not in each.path for each in exported(world, "ada", REVIEWER).files)
    kept = definition(world, "ada", REVIEWER)
    apply(world, "ada", kept, target=REVIEWER, files=[])
    assert content(world, "memory/new.md") == "Again."


def test_memory_may_be_written_before_the_agent_ever_ran(world: World) -> None:
    assert write(world, "memory/first.md", "x").created
    assert paths(world) == ["knowledge/style.md", "memory/first.md"]


def test_bytes_are_written_as_base64(world: World) -> None:
    write(world, "raw.bin", base64.b64encode(b"\xff\x00").decode(), encoding="base64")
    page = world.answer(files.READ, "ada", target=REVIEWER, path="raw.bin")
    assert base64.b64decode(page.content) == b"\xff\x00"


@pytest.mark.parametrize(
    ("path", "text", "more", "problem"),
    [
        ("outputs/x", "x", {}, 'path "outputs/x": only the agent itself writes into outputs/'),
        ("crew.toml", "x", {}, "path crew.toml is the definition itself, not one of its files"),
        ("a", "?", {"encoding": "base64"}, "content is not base64"),
        ("knowledge", "x", {}, "files: knowledge is a file and a folder"),
        ("knowledge/style.md/x", "x", {}, "files: knowledge/style.md is a file and a folder"),
    ],
)
def test_a_file_that_cannot_be_is_refused(
    world: World, path: str, text: str, more: dict[str, Any], problem: str
) -> None:
    assert write(world, path, text, **more).problems == [problem]


def test_files_have_so_many_bytes_together_and_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "AGENT_FILES_BYTES_MAX", 20)
    assert write(world, "a", "123").size == 3
    assert code(write(world, "b", "1")) == "invalid_input"
    assert code(write(world, "memory/x", "x" * 21)) == "invalid_input"
    assert not write(world, "a", "321").created


def test_a_runner_writes_nothing(world: World, folder: Path) -> None:
    before = rows(world)
    for path in ("a", "memory/x", "outputs/x"):
        assert code(write(world, path, "x", "bob")) == "not_permitted"
        answer = world.answer(files.DELETE, "bob", target=REVIEWER, path=path)
        assert code(answer) == "not_permitted"
    assert rows(world) == before


def test_while_an_agent_starts_programs_its_files_are_its_owners(
    world: World, folder: Path
) -> None:
    world.answer(crews.SET_RUNTIME, "ada", target=REVIEWER, runtime=COMMAND)
    for path in ("review.py", "memory/x.py", "knowledge/style.md"):
        answer = write(world, path, "x", "cleo")
        assert answer.problems == [
            "only an owner may change files of PR Reviewer: it starts programs"
        ]
        assert code(world.answer(files.DELETE, "cleo", target=REVIEWER, path=path)) == (
            "not_permitted"
        )
    assert write(world, "review.py", "x").created


def test_the_file_a_runtime_reads_stays_right_and_stays(world: World) -> None:
    write(world, "rules.toml", 'otherwise = [{say = "Hi"}]')
    runtime = {"name": "scripted", "file": "rules.toml"}
    world.answer(crews.SET_RUNTIME, "ada", target=REVIEWER, runtime=runtime)
    assert write(world, "rules.toml", "otherwise = []").problems == [
        "files/rules.toml must have rules or otherwise, with something to do"
    ]
    answer = world.answer(files.DELETE, "ada", target=REVIEWER, path="rules.toml")
    assert answer.problems == ["path rules.toml is what the runtime of PR Reviewer runs"]


# ── deleting ─────────────────────────────────────────────────────────────────────────────────


def test_a_file_is_taken_away(world: World, folder: Path, golden: Any) -> None:
    assert golden == [
        world.call(files.DELETE, "cleo", target="PR Reviewer", path=path)
        for path in ("knowledge/style.md", "memory/log.md", "memory/log.md")
    ]
    assert paths(world) == ["outputs/report.md", "scratch.txt"]


# ── targets, as every operation takes them ───────────────────────────────────────────────────

ARGS: dict[str, dict[str, Any]] = {
    "files.list": {},
    "files.read": {"path": "outputs/x"},
    "files.write": {"path": "x", "content": "x"},
    "files.delete": {"path": "x"},
    "files.search": {"text": "x"},
}
EVERY = pytest.mark.parametrize(
    "operation",
    [files.LIST, files.READ, files.WRITE, files.DELETE, files.SEARCH],
    ids=lambda each: each.name,
)


@EVERY
def test_an_unknown_target_is_refused(
    world: World, golden: Any, operation: Operation[Any, Any]
) -> None:
    assert golden == world.call(operation, "bob", target="Valt", **ARGS[operation.name])


@EVERY
def test_an_ambiguous_target_is_refused(
    world: World, golden: Any, operation: Operation[Any, Any]
) -> None:
    assert golden == world.call(operation, "ada", target="latency", **ARGS[operation.name])


@EVERY
def test_strangers_find_no_agent_and_no_file(world: World, operation: Operation[Any, Any]) -> None:
    answer = world.answer(operation, "mallory", target=REVIEWER, **ARGS[operation.name])
    assert code(answer) == "not_found"


def test_files_of_another_agent_are_another_agents(world: World, folder: Path) -> None:
    assert world.answer(files.LIST, "ada", target="Release Notes").files == []
    made = apply(world, "ada", {"name": "Other"}, files=[file("a.md", "x")])
    assert [each.path for each in world.answer(files.LIST, "ada", target=made.agent_id).files] == [
        "a.md"
    ]
