"""A folder of definitions read, and a definition written as TOML: without a server."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cli import toml, workspace
from cli.workspace import Unreadable
from tests import folders
from tests.folders import REVIEWER, put
from tests.made_up import json_values

a_folder = folders.a_folder


# ── what cannot be read ──────────────────────────────────────────────────────────────────────


def problems(folder: Path) -> list[str]:
    with pytest.raises(Unreadable) as refused:
        workspace.read(folder)
    return refused.value.problems


def test_toml_problems_are_told_with_their_lines(folder: Path) -> None:
    put(folder / "crews/a/crew.toml", 'name = "A"\nabout = \n')
    put(folder / "crews/b/crew.toml", b'name = "B"\n\n# \xff\n')
    put(folder / "crews/c/crew.toml", 'name = "C"\nname = "D"\n')
    told = problems(folder)
    assert told[0].startswith("crews/a/crew.toml: ") and "at line 2" in told[0]
    assert told[1] == "crews/b/crew.toml: not UTF-8 (at line 3)"
    assert told[2].startswith("crews/c/crew.toml: ") and "at line 2" in told[2]


def test_what_json_cannot_say_is_told_with_its_place(folder: Path) -> None:
    put(
        folder / "crews/a/crew.toml",
        'name = "A"\n[runtime]\na = [1979-05-27, 07:32:00]\nb = { c = nan, d = -inf, e = 1e30 }\n',
    )
    assert problems(folder) == [
        "crews/a/crew.toml: runtime.a[0] is a date or time; write it as text, in quotes",
        "crews/a/crew.toml: runtime.a[1] is a date or time; write it as text, in quotes",
        "crews/a/crew.toml: runtime.b.c is nan, which is no JSON number",
        "crews/a/crew.toml: runtime.b.d is -inf, which is no JSON number",
    ]


def test_links_and_dotfiles_are_refused_and_pipes_too(folder: Path, tmp_path: Path) -> None:
    crew = folder / "crews/pr-reviewer"
    put(tmp_path / "secret", "secret")
    (crew / "link").symlink_to(tmp_path / "secret")
    (crew / "away").symlink_to(tmp_path)
    put(crew / ".env", "SECRET=1")
    put(crew / "knowledge/.draft", "x")
    os.mkfifo(crew / "pipe")
    (folder / "crews/linked").symlink_to(crew)
    put(folder / "crews/notes.txt", "x")
    (folder / "crews/empty").mkdir()
    put(folder / "workflows/w/workflow.toml", "")
    told = "\n".join(problems(folder))
    for place in ("/link:", "/away:", "/.env:", "knowledge/.draft:", "/pipe:", "crews/linked:"):
        assert place in told
    assert "crews/notes.txt is no folder of an agent" in told
    assert "crews/empty has no crew.toml" in told
    assert "workflows/ cannot be applied" in told
    assert "secret" not in told.replace(str(tmp_path), "")


def test_a_definition_that_is_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    put(tmp_path / "other.toml", "name = ")
    (folder / "crews/a").mkdir()
    (folder / "crews/a/crew.toml").symlink_to(tmp_path / "other.toml")
    told = problems(folder)
    assert any("links are not uploaded" in each for each in told)
    assert not any("at line" in each for each in told)


def test_too_much_is_not_sent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "UPLOAD_BYTES_MAX", 100)
    put(folder / "crews/pr-reviewer/large.bin", b"x" * 101)
    put(folder / "code/desk/one", b"x" * 60)
    put(folder / "code/desk/two", b"x" * 60)
    told = problems(folder)
    assert "crews/pr-reviewer/large.bin: more than 100 bytes" in told
    assert "code/desk/: its files have 120 bytes; at most 100 go" in told


def test_a_kind_is_said_by_the_name_of_the_file(folder: Path) -> None:
    put(folder / "code/a/code.toml", 'name = "A"\nkind = "crew"\n')
    assert problems(folder) == ["code/a/code.toml: kind must be code, as the name of the file says"]


def test_a_folder_without_definitions_is_told(tmp_path: Path) -> None:
    assert "declares nothing" in problems(tmp_path)[0]


def test_bytes_and_texts_are_read_as_they_are(folder: Path) -> None:
    crew = folder / "crews/pr-reviewer"
    put(crew / "raw", bytes(range(256)))
    put(crew / "nul", b"a\0b")
    put(crew / "text", "é\r\n")
    put(crew / "__pycache__/x.pyc", b"x")
    (crew / "knowledge/deep/er").mkdir(parents=True)
    read = workspace.read(folder)[0]
    found = {each["path"]: each.get("encoding", "utf-8") for each in read.files}
    assert found == {
        "knowledge/style.md": "utf-8",
        "nul": "base64",
        "raw": "base64",
        "review.py": "utf-8",
        "text": "utf-8",
    }
    assert next(each for each in read.files if each["path"] == "text")["content"] == "é\r\n"


# ── TOML ─────────────────────────────────────────────────────────────────────────────────────


def read_back(value: Any) -> Any:
    return tomllib.loads(toml.document(value))


def without_null(value: Any) -> bool:
    return not toml._has_null(value)


@given(some.dictionaries(some.text(max_size=8), json_values.filter(without_null), max_size=5))
def test_what_is_written_reads_back(value: dict[str, Any]) -> None:
    assert read_back(value) == value


@given(some.dictionaries(some.sampled_from(sorted(toml.AS_TEXT)), json_values, max_size=3))
def test_what_holds_a_null_is_written_as_json(value: dict[str, Any]) -> None:
    found = read_back({"functions": [value, {"x": 1}]})["functions"][0] if value else {}
    for key, each in value.items():
        assert (json.loads(found[key]) if toml._has_null(each) else found[key]) == each


@pytest.mark.parametrize(
    "text",
    ['"""', "\\", "\r\n", "a\r\nb\n", "\n", "\x7f\x1b[31m", "'''", "tab\there\n", "é\u2028\n"],
)
def test_texts_read_back_character_by_character(text: str) -> None:
    assert read_back({"a": text, "b": [text], "c": {"d": text}}) == {
        "a": text,
        "b": [text],
        "c": {"d": text},
    }


def test_numbers_stay_what_they_are() -> None:
    value = {"a": 10**40, "b": 1e300, "c": -0.0, "d": 1.0, "e": True, "f": 0.1}
    found = read_back(value)
    assert found == value
    assert [type(each) for each in found.values()] == [type(each) for each in value.values()]
    assert math.copysign(1, found["c"]) == -1


def test_a_definition_reads_well() -> None:
    assert toml.document(tomllib.loads(REVIEWER)) == (
        'name = "PR Reviewer"\n'
        'about = "Reviews pull requests."\n\n'
        '[runtime]\nname = "command"\nargv = ["./review.py"]\n\n'
        '[[functions]]\nname = "review_pr"\n\n'
        '[[functions.inputs]]\nname = "PR_NUMBER"\ntype = "integer"\nrequired = true\n\n'
        '[[functions.inputs]]\nname = "GROUP"\ntype = "string"\nenum = ["staging", "prod"]\n'
    )


def test_help_of_other_commands_loads_neither_of_these(tmp_path: Path) -> None:
    asked = (
        "import cli.commands, sys; print([n for n in sys.modules if n in ('cli.apply', 'tomllib')])"
    )
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")
