"""The documentation is checked like code: links lead somewhere, names exist, commands work."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts import PROTOCOL
from agentworks.contracts.refusal import RefusalCode
from agentworks.rules import limits
from cli.commands import tree
from cli.render import Exit
from docs import generate
from docs.reading import (
    ROOT,
    anchors,
    blocks,
    blocks_in,
    command_lines,
    commands,
    links,
    misuse,
    pages,
    where,
)
from tests.source import listed

NAMED = re.compile(r"`([a-z_][\w.]*):([\w.]+)`")
APART = ("make ", "curl ")  # blocks of the tour that need more than the command line


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


# ── what is printed from the code ────────────────────────────────────────────────────────────


def test_printed_passages_are_up_to_date() -> None:
    assert generate.main(["--check"]) == ""


def test_a_changed_passage_is_noticed_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reference").mkdir()
    monkeypatch.setattr(generate, "DOCS", tmp_path)
    monkeypatch.setattr(generate, "REFERENCE", tmp_path / "reference")
    monkeypatch.setattr(generate, "PRINTED", {"limits": lambda: "seven"})
    (tmp_path / "by_hand.md").write_text("six\n<!-- printed: limits -->\nsix\n<!-- end -->\nsix\n")
    (tmp_path / "reference" / "old.verb.md").write_text(generate.whole("# old.verb"))
    assert generate.main(["--check"]).startswith("stale")
    generate.write()
    assert generate.main(["--check"]) == ""
    assert (tmp_path / "by_hand.md").read_text() == (
        "six\n<!-- printed: limits -->\n\nseven\n\n<!-- end -->\nsix\n"
    )
    assert sorted(path.name for path in (tmp_path / "reference").iterdir()) == sorted(
        f"{each.name}.md" for each in PROTOCOL
    )


def test_everything_a_caller_can_meet_is_documented() -> None:
    wanted = {
        "cli.md": [f"### {name}\n" for name in commands(tree, "agentworks")],
        "limits.md": [f"`{name}`" for name in vars(limits) if name.isupper()],
        "refusals.md": [f"| `{code.value}` |" for code in RefusalCode],
        "who-may-call.md": [f"| [{each.name}](reference/{each.name}.md) |" for each in PROTOCOL],
    }
    wanted |= {f"reference/{each.name}.md": [f"# {each.name}\n"] for each in PROTOCOL}
    missing = [
        f"{name}: {word}"
        for name, words in wanted.items()
        for word in words
        if word not in page(name)
    ]
    assert not missing, listed(missing)


def test_every_exit_code_is_documented() -> None:
    rows = re.findall(r"^\| (\d+) \|", page("cli.md"), re.MULTILINE)
    assert [int(row) for row in rows] == sorted(each.value for each in Exit)


# ── links and names ──────────────────────────────────────────────────────────────────────────


def test_every_link_leads_somewhere() -> None:
    broken = [
        f"{where(path)}: {link.written}"
        for path in pages()
        for link in links(path)
        if not link.aim.exists() or (link.anchor and link.anchor not in anchors(link.aim))
    ]
    assert not broken, listed(broken)


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, ahead = set[Path](), [ROOT / "README.md"]
    while ahead:
        path = ahead.pop()
        if path.suffix == ".md" and path.is_file() and path not in reached:
            reached.add(path)
            ahead += [link.aim for link in links(path)]
    lost = [where(path) for path in pages() if path not in reached]
    assert not lost, listed(lost)


def test_every_name_on_the_way_of_a_message_exists() -> None:
    names = NAMED.findall(page("a-message-from-end-to-end.md"))
    assert len(names) > 40
    missing = []
    for module, dotted in names:
        try:
            found: Any = importlib.import_module(module)
            for part in dotted.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as wrong:
            missing.append(f"{module}:{dotted}: {wrong}")
    assert not missing, listed(missing)


# ── blocks of code ───────────────────────────────────────────────────────────────────────────


def test_every_block_is_valid() -> None:
    broken = []
    for block in (block for path in pages() for block in blocks(path)):
        try:
            if block.kind == "sh":
                subprocess.run(["bash", "-n"], input=block.text, text=True, check=True)
            elif block.kind == "json":
                json.loads(block.text)
            elif block.kind == "python":
                ast.parse(block.text)
            elif block.kind == "toml":
                tomllib.loads(block.text)
            elif block.kind not in ("http", "mermaid", "nginx", "text"):
                broken.append(f"{where(block.path)}: a block of no known kind: {block.kind!r}")
        except (subprocess.CalledProcessError, ValueError, SyntaxError) as wrong:
            broken.append(f"{where(block.path)}: {wrong}\n{block.text}")
    assert not broken, listed(broken)


def test_every_command_line_shown_is_one() -> None:
    lines = [
        (block.path, words)
        for path in pages()
        for block in blocks(path)
        if block.kind == "sh"
        for words in command_lines(block.text)
    ]
    assert len(lines) > 20
    wrong = [f"{where(path)}: {found}" for path, words in lines if (found := misuse(tree, words))]
    assert not wrong, listed(wrong)


# ── the tour and the guide, done for real ────────────────────────────────────────────────────


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A server on a free port over `.agentworks`, in a folder that has its own `agentworks`."""
    shim = tmp_path / ".venv" / "bin" / "agentworks"
    shim.parent.mkdir(parents=True)
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m cli "$@"\n')
    shim.chmod(0o755)
    words = ["serve", "--data", ".agentworks", "--port", "0", "--allow-root"]
    with subprocess.Popen(
        [sys.executable, "-m", "cli", *words],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        try:
            yield said.split()[2]
        finally:
            process.kill()


def environment(**more: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if "AGENTWORKS" not in name}
    return ours | {"PYTHONPATH": str(ROOT)} | more


def test_the_tour_of_the_readme_works(server: str, tmp_path: Path) -> None:
    readme = ROOT / "README.md"
    tour = readme.read_text("utf-8").partition("## Five minutes")[2].partition("\n## ")[0]
    found = blocks_in(tour, readme)
    script = [each.text for each in found if each.kind == "sh" and not each.text.startswith(APART)]
    done = subprocess.run(
        ["bash", "-eu"],
        input="".join(script),
        cwd=tmp_path,
        env=environment(AGENTWORKS_SERVER=server),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=50,
        check=False,
    )
    (told,) = [each.text for each in found if each.kind == "text"]
    assert done.returncode == 0 and told in done.stdout, done.stdout
    assert done.stdout.count("| Ready for review") == 1
    assert done.stdout.count("| Review received") == 1


def test_the_script_of_the_guide_answers_each_message_once(server: str, tmp_path: Path) -> None:
    guide = ROOT / "docs/guides/connect-a-script.md"
    (program,) = [each.text for each in blocks(guide) if each.kind == "python"]
    (tmp_path / "builder.py").write_text(program)
    made = spoken(tmp_path, {}, "connection", "create", "--data", ".agentworks", "--label", "b")
    env = {"AGENTWORKS_SERVER": server, "AGENTWORKS_TOKEN": made["token"]}
    for name in ("builder", "asker"):
        spoken(tmp_path, env, "messages", "register", "--agent", name)
    send = ("messages", "send", "--agent", "asker", "--target", "agent:builder", "--message")
    read = ("messages", "read", "--agent", "asker", "--wait", "25", "--after")
    for after, word in enumerate(("One", "Two")):
        spoken(tmp_path, env, *send, word)
        with running(tmp_path / "builder.py", env):
            replies = spoken(tmp_path, env, *read, str(after))["messages"]
        assert [each["message"] for each in replies] == [f"Seen: {word}"]
        (tmp_path / "builder.cursor").unlink(missing_ok=True)  # as if it fell before saving it


def spoken(folder: Path, env: dict[str, str], *words: str) -> Any:
    """The answer to one command; it must be answered."""
    done = subprocess.run(
        [sys.executable, "-m", "cli", *words, "--json"],
        cwd=folder,
        env=environment(**env),
        stdout=subprocess.PIPE,
        timeout=50,
        check=True,
    )
    return json.loads(done.stdout)


@contextmanager
def running(program: Path, env: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, program.name],
        cwd=program.parent,
        env=environment(**env),
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()
