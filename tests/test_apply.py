"""`agentworks apply` and `export`: a folder and a real server, each brought up to the other."""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentworks import offline
from agentworks.offline import DATABASE
from agentworks.store.once import transaction
from agentworks.tables import accounts
from cli import toml
from tests import folders
from tests.cli_world import Done, Hand
from tests.folders import REVIEWER, put
from tests.live import Live
from tests.office import full

a_folder = folders.a_folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with Live(tmp_path_factory.mktemp("apply") / "data") as made:
        yield made


@pytest.fixture
def hand(server: Live, tmp_path: Path) -> Hand:
    """Somebody new, whose connection may define."""
    name = f"account{os.urandom(4).hex()}"
    token = author(server, name)
    home = tmp_path / "home"
    home.mkdir()
    return Hand(home, f"http://127.0.0.1:{server.port}", AGENTWORKS_TOKEN=token)


def author(server: Live, name: str) -> str:
    """The token of a new account's connection."""
    transaction(server.folder / DATABASE, lambda tx: accounts.add(tx, name, None, is_owner=False))
    scopes = ["read", "run", "author"]
    return str(offline.create_connection(server.folder, "apply", name, scopes=scopes)["token"])


def applied(hand: Hand, folder: Path, *words: str) -> Done:
    return hand.run("apply", str(folder), "--yes", *words)


def answers(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.splitlines()]


# ── applying ─────────────────────────────────────────────────────────────────────────────────


def test_a_folder_is_applied_and_then_there_is_nothing_to_change(hand: Hand, folder: Path) -> None:
    done = applied(hand, folder)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "crews/pr-reviewer/crew.toml: PR Reviewer, new"
    assert "  + files/review.py: 37 bytes (" in done.out
    assert done.out.endswith("made PR Reviewer\nmade Desk\n")
    again = applied(hand, folder)
    assert (again.code, again.err) == (0, "nothing to change\n")
    assert again.out.splitlines() == [
        "crews/pr-reviewer/crew.toml: PR Reviewer, as it is",
        "code/desk/code.toml: Desk, as it is",
    ]


def test_changes_are_shown_as_a_diff(hand: Hand, folder: Path) -> None:
    crew = folder / "crews/pr-reviewer/crew.toml"
    crew.write_text('instructions = """\nOne.\nTwo.\nThree."""\n' + REVIEWER)
    applied(hand, folder)
    text = REVIEWER.replace("Reviews pull requests.", "Reviews.").replace("staging", "test")
    crew.write_text('instructions = """\nOne.\n2.\nThree."""\n' + text)
    done = hand.run("apply", str(folder), "--dry-run")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:-1] == [
        "crews/pr-reviewer/crew.toml: PR Reviewer, 3 changes",
        "  ~ about: Reviews pull requests. -> Reviews.",
        "  ~ instructions",
        "      @@ -1,3 +1,3 @@",
        "       One.",
        "      -Two.",
        "      +2.",
        "       Three.",
        '  ~ functions.review_pr.inputs.GROUP.enum: ["staging", "prod"] -> ["test", "prod"]',
    ]


def test_a_dry_run_saves_nothing(hand: Hand, folder: Path) -> None:
    done = hand.run("apply", str(folder), "--dry-run", "--json")
    assert done.code == 0
    assert [(each["created"], each["saved"], each["agent_id"]) for each in answers(done)] == [
        (True, False, ""),
        (True, False, ""),
    ]
    assert hand.run("agents", "list", "--json").json["agents"] == []


def test_json_is_the_answers_as_they_were_sent(hand: Hand, folder: Path) -> None:
    done = applied(hand, folder, "--json")
    assert [each["name"] for each in answers(done)] == ["PR Reviewer", "Desk"]
    assert all(each["status"] == "applied" and each["saved"] for each in answers(done))


def test_without_a_terminal_and_without_yes_nothing_is_applied(hand: Hand, folder: Path) -> None:
    done = hand.run("apply", str(folder))
    assert done.code == 2
    assert "pass --yes" in done.err
    assert "PR Reviewer, new" in done.out  # the diff comes first
    assert hand.run("agents", "list", "--json").json["agents"] == []
    applied(hand, folder)
    assert hand.run("apply", str(folder)).code == 0  # nothing to ask


@pytest.mark.parametrize(("answer", "code", "count"), [(b"y\n", 0, 2), (b"\n", 3, 0)])
def test_on_a_terminal_a_person_is_asked(
    hand: Hand, folder: Path, answer: bytes, code: int, count: int
) -> None:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        done = hand.ended(hand.start("apply", str(folder), stdin=theirs))
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.code == code, done
    assert "[y/N]" in done.err
    assert len(hand.run("agents", "list", "--json").json["agents"]) == count


def test_everything_wrong_is_told_and_nothing_is_saved(hand: Hand, folder: Path) -> None:
    put(folder / "crews/a/crew.toml", 'name = "A"\n[runtime]\nname = "magic"\n')
    put(folder / "crews/b/crew.toml", 'name = ""\nfunctons = []\n')
    done = applied(hand, folder)
    assert done.code == 3
    for problem in ("crews/a/crew.toml:", "runtime.name must be", "functons is unknown"):
        assert problem in done.err
    assert hand.run("agents", "list", "--json").json["agents"] == []


def test_a_target_is_changed_by_one_definition(hand: Hand, folder: Path) -> None:
    applied(hand, folder)
    crew = folder / "crews/pr-reviewer"
    (crew / "crew.toml").write_text(REVIEWER.replace('"PR Reviewer"', '"Second Reader"'))
    assert applied(hand, folder, "--target", "PR Reviewer").code == 2
    done = applied(hand, crew, "--target", "pr reviewer", "--json")
    assert (answers(done)[0]["created"], answers(done)[0]["name"]) == (False, "Second Reader")
    unknown = applied(hand, crew, "--target", "Nobody")
    assert (unknown.code, "not_found" in unknown.err) == (3, True)


def test_a_connection_that_may_not_define_applies_nothing(
    server: Live, hand: Hand, folder: Path
) -> None:
    token = server.connection("no author")
    done = hand.run("apply", str(folder), "--yes", env={"AGENTWORKS_TOKEN": token})
    assert (done.code, "author" in done.err) == (3, True)


def test_what_cannot_be_read_is_refused_before_anything_is_sent(hand: Hand, tmp_path: Path) -> None:
    done = hand.run("apply", str(tmp_path), "--json")
    assert (done.code, done.json["status"], done.err) == (3, "refused", "")
    assert hand.run("apply", str(tmp_path / "nowhere")).code == 2


# ── exporting ────────────────────────────────────────────────────────────────────────────────


def test_what_is_exported_applies_without_a_change(
    hand: Hand, folder: Path, tmp_path: Path
) -> None:
    definition = full() | {"members": {}}
    definition["functions"][0]["allowed_callers"] = []
    put(folder / "crews/helpdesk/crew.toml", toml.document(definition))
    put(folder / "crews/helpdesk/raw", bytes(range(256)))
    assert applied(hand, folder).err == ""
    away = tmp_path / "away"
    for name in ("PR Reviewer", "helpdesk", "Desk"):
        assert hand.run("export", name, str(away)).code == 0
    found = sorted(str(each.relative_to(away)) for each in away.rglob("*") if each.is_file())
    assert found == [
        "code/desk/code.toml",
        "crews/helpdesk/crew.toml",
        "crews/helpdesk/raw",
        "crews/pr-reviewer/crew.toml",
        "crews/pr-reviewer/knowledge/style.md",
        "crews/pr-reviewer/review.py",
    ]
    assert (away / "crews/helpdesk/raw").read_bytes() == bytes(range(256))
    done = applied(hand, away)
    assert (done.code, done.err) == (0, "nothing to change\n")


def test_an_export_over_the_same_files_writes_nothing(hand: Hand, folder: Path) -> None:
    applied(hand, folder)
    before = (folder / "crews/pr-reviewer/crew.toml").read_text()
    done = hand.run("export", "PR Reviewer", str(folder), "--json")
    assert (done.code, done.json["status"]) == (0, "exported")
    assert (folder / "crews/pr-reviewer/crew.toml").read_text() == before  # comments and all


def test_what_an_export_would_lose_is_asked_about_first(hand: Hand, folder: Path) -> None:
    applied(hand, folder)
    crew = folder / "crews/pr-reviewer"
    put(crew / "mine.txt", "x")
    put(crew / "review.py", "changed")
    put(crew / ".env", "kept")
    done = hand.run("export", "PR Reviewer", str(folder))
    assert done.code == 2
    assert f"  ~ {crew}/review.py" in done.err
    assert f"  - {crew}/mine.txt" in done.err
    assert (crew / "mine.txt").exists()
    assert hand.run("export", "PR Reviewer", str(folder), "--yes").code == 0
    assert not (crew / "mine.txt").exists()
    assert (crew / "review.py").read_text().startswith("#!")
    assert (crew / ".env").exists()


def test_an_agent_that_is_not_there_is_not_exported(hand: Hand, tmp_path: Path) -> None:
    done = hand.run("export", "Nobody", str(tmp_path / "away"), "--json")
    assert (done.code, done.json["code"]) == (3, "not_found")
    assert not (tmp_path / "away").exists()


def test_an_export_does_not_write_through_links(hand: Hand, folder: Path, tmp_path: Path) -> None:
    applied(hand, folder)
    away, outside = tmp_path / "away", tmp_path / "outside"
    outside.mkdir()
    (away / "crews/pr-reviewer").mkdir(parents=True)
    put(away / "crews/pr-reviewer/crew.toml", 'name = "PR Reviewer"')
    (away / "crews/pr-reviewer/knowledge").symlink_to(outside)
    done = hand.run("export", "PR Reviewer", str(away), "--yes")
    assert (done.code, "a link is in its way" in done.err) == (1, True)
    assert list(outside.iterdir()) == []
