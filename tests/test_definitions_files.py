"""The files that come with a definition: names, contents, and the one its runtime reads."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from agentworks.rules import limits
from tests import office
from tests.conftest import World
from tests.office import (
    apply,
    crew,
    exported,
    file,
    problems,
)

a_world = office.a_world


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "a/",
        ".env",
        "a/.git/config",
        "a\nb",
        "/".join("x" * 451),
        "x" * 256,
        "/".join("a" * 33),
        "crew.toml",
        "code.toml",
        "outputs/x",
        "memory/x",
        "\0",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(world: World, path: str) -> None:
    told = problems(world, "ada", crew(), files=[file(path, "x")])
    assert told and all(each.startswith("files[0].path") for each in told)


def test_files_are_there_once_and_no_folders(world: World) -> None:
    twice = [file("a", "1"), file("a", "2"), file("b", "3"), file("b/c", "4")]
    assert problems(world, "ada", crew(), files=twice) == [
        "files: a is there twice",
        "files: b is a file and a folder",
    ]


def test_files_are_kept_byte_for_byte(world: World) -> None:
    raw = bytes(range(256))
    files = [file("raw", base64.b64encode(raw).decode(), encoding="base64"), file("text", "é\r\n")]
    apply(world, "ada", crew(), files=files)
    assert msgspec.to_builtins(exported(world, "ada", "Helpdesk").files) == files


@pytest.mark.parametrize("content", ["YQ", "Y Q==", "YQ==\n", "é", "====", 5, None])
def test_base64_is_read_strictly(world: World, content: Any) -> None:
    told = problems(world, "ada", crew(), files=[file("a", content, encoding="base64")])
    assert told[0].startswith("files[0].content")


def test_files_have_16_mib_together_and_are_1000_at_most(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "AGENT_FILES_BYTES_MAX", 10)
    monkeypatch.setattr(limits, "AGENT_FILES_MAX", 2)
    told = problems(world, "ada", crew(), files=[file(f"f{n}", "1234567") for n in range(3)])
    assert told == [
        "files has 3; at most 2 are allowed",
        "files have 14 bytes together; at most 10 are allowed",
    ]


def test_the_file_a_runtime_reads_is_checked_with_it(world: World) -> None:
    runtime = {"name": "scripted", "file": "rules.toml"}
    assert apply(
        world,
        "ada",
        crew(runtime=runtime),
        files=[file("rules.toml", 'otherwise = [{say = "Hi"}]')],
    ).saved
    told = problems(
        world, "ada", crew(runtime=runtime), files=[file("rules.toml", "otherwise = [{say = 5}]")]
    )
    assert told == ["files/rules.toml.otherwise[0].say must be text (got 5)"]
    told = problems(
        world, "ada", crew(runtime=runtime), files=[file("rules.toml", "otherwise = [")]
    )
    assert told[0].startswith("files/rules.toml: ")
    assert problems(world, "ada", crew(runtime=runtime), files=[]) == [
        "runtime.file rules.toml is not among the files of the agent"
    ]


def test_a_file_that_stays_is_checked_when_the_runtime_takes_it_up(world: World) -> None:
    apply(world, "ada", crew(), files=[file("rules.json", "[]")])
    told = problems(world, "ada", crew(runtime={"name": "scripted", "file": "rules.json"}))
    assert told == [
        "files/rules.json must be an object with rules or otherwise (got an array of 0)"
    ]
