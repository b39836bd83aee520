"""Files of an agent: who may read and write them, before and after they are placed for it."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts import files
from agentworks.rules import limits
from tests import agent_folder, office
from tests.agent_folder import code, content, paths, placed, write
from tests.conftest import World
from tests.office import REVIEWER

STYLE = "# Style\nBe kind.\n"


a_world = office.a_world


a_folder = agent_folder.a_folder


# ── listing ──────────────────────────────────────────────────────────────────────────────────


def test_an_editor_sees_every_file(world: World, folder: Path, golden: Any) -> None:
    assert golden == world.call(files.LIST, "cleo", target="PR Reviewer")


def test_callers_see_what_was_produced_and_nothing_else(
    world: World, folder: Path, golden: Any
) -> None:
    assert golden == world.call(files.LIST, "bob", target="PR Reviewer")


def test_a_folder_is_listed_alone(world: World, folder: Path) -> None:
    assert paths(world, folder="memory") == ["memory/log.md"]
    assert paths(world, folder="knowledge/") == ["knowledge/style.md"]
    assert paths(world, folder="nowhere") == []


def test_an_agent_that_never_ran_has_the_files_it_was_given(world: World) -> None:
    assert paths(world) == ["knowledge/style.md"]
    assert paths(world, "bob") == []


def test_files_are_the_same_before_and_after_they_are_placed(world: World, folder: Path) -> None:
    before = world.answer(files.LIST, "ada", target=REVIEWER)
    placed(world)
    assert world.answer(files.LIST, "ada", target=REVIEWER) == before


def test_what_the_agent_made_of_a_file_is_what_is_there(world: World, folder: Path) -> None:
    placed(world)
    (folder / "knowledge/style.md").write_text("Be strict.")
    assert content(world, "knowledge/style.md") == "Be strict."
    assert [
        each.size
        for each in world.answer(files.LIST, "ada", target=REVIEWER, folder="knowledge").files
    ] == [10]


def test_a_newer_version_counts_before_it_is_placed(world: World, folder: Path) -> None:
    placed(world)
    (folder / "knowledge/style.md").write_text("Be strict.")
    write(world, "knowledge/style.md", "Be fair.")
    assert content(world, "knowledge/style.md") == "Be fair."
    listed = world.answer(files.LIST, "ada", target=REVIEWER, folder="knowledge").files
    assert [each.size for each in listed] == [len("Be fair.")]
    placed(world)
    assert (folder / "knowledge/style.md").read_text() == "Be fair."


def test_a_file_the_agent_threw_away_is_still_its_authors(world: World, folder: Path) -> None:
    placed(world)
    (folder / "knowledge/style.md").unlink()
    assert content(world, "knowledge/style.md") == STYLE
    assert "knowledge/style.md" in paths(world)


def test_a_file_taken_back_is_gone_before_its_place_is_cleared(world: World, folder: Path) -> None:
    placed(world)
    world.answer(files.DELETE, "ada", target=REVIEWER, path="knowledge/style.md")
    assert (folder / "knowledge/style.md").exists()
    assert "knowledge/style.md" not in paths(world)
    assert code(world.answer(files.READ, "ada", target=REVIEWER, path="knowledge/style.md")) == (
        "not_found"
    )
    placed(world)
    assert not (folder / "knowledge/style.md").exists()


def test_no_more_files_are_listed_than_can_be(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FILES_LISTED_MAX", 2)
    answer = world.answer(files.LIST, "ada", target=REVIEWER)
    assert len(answer.files) == 2
    assert answer.more


# ── reading ──────────────────────────────────────────────────────────────────────────────────


def in_pages(world: World, path: str, limit: int) -> str:
    """A file put together from its pages."""
    read: str = ""
    offset = 0
    while True:
        page = world.answer(
            files.READ, "ada", target=REVIEWER, path=path, offset=offset, limit=limit
        )
        assert page.encoding == "utf-8"
        read += str(page.content)
        if page.next_offset is None:
            assert page.size == len(read.encode())
            return read
        offset = page.next_offset


def test_a_file_is_read_in_pages_that_put_together_are_the_file(world: World, golden: Any) -> None:
    text = "aé🙂" * 50
    write(world, "notes.md", text)
    assert in_pages(world, "notes.md", 10) == text
    placed(world)
    assert in_pages(world, "notes.md", 10) == text
    assert golden == world.call(
        files.READ, "ada", target="PR Reviewer", path="notes.md", offset=3, limit=10
    )


def test_what_is_no_text_is_base64(world: World, folder: Path) -> None:
    raw = b"\xff\x00\x01"
    (folder / "outputs/image.png").write_bytes(raw)
    page = world.answer(files.READ, "bob", target=REVIEWER, path="outputs/image.png")
    assert (page.encoding, base64.b64decode(page.content)) == ("base64", raw)


def test_a_reader_reads_outputs_and_an_editor_everything(world: World, folder: Path) -> None:
    assert content(world, "outputs/report.md", "bob") == "Two findings: be kind.\n"
    for path in ("memory/log.md", "knowledge/style.md", "scratch.txt", "outputs2/x", "nothing"):
        answer = world.answer(files.READ, "bob", target=REVIEWER, path=path)
        assert code(answer) == "not_permitted"
        assert code(world.answer(files.LIST, "bob", target=REVIEWER, folder=path)) == (
            "not_permitted"
        )
    assert content(world, "memory/log.md", "cleo").startswith("Saw PR 7.")


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", ".calls/call_1/out/result.json", "outputs/.draft", "a//b"]
)
def test_a_path_that_leads_elsewhere_is_refused(world: World, folder: Path, path: str) -> None:
    for operation, more in (
        (files.READ, {}),
        (files.WRITE, {"content": "x"}),
        (files.DELETE, {}),
    ):
        answer = world.answer(operation, "ada", target=REVIEWER, path=path, **more)
        assert code(answer) == "invalid_input"
    if not path.startswith("/"):
        assert code(world.answer(files.LIST, "ada", target=REVIEWER, folder=path)) == (
            "invalid_input"
        )


def test_links_out_of_the_folder_are_not_there(world: World, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (folder / "outputs/link").symlink_to(tmp_path / "secret")
    (folder / "outputs/away").symlink_to(tmp_path)
    os.mkfifo(folder / "outputs/pipe")
    assert paths(world, folder="outputs") == ["outputs/report.md"]
    for path in ("outputs/link", "outputs/away/secret", "outputs/pipe"):
        assert code(world.answer(files.READ, "ada", target=REVIEWER, path=path)) == "not_found"
    assert world.answer(files.SEARCH, "ada", target=REVIEWER, text="secret").lines == []


def test_nothing_is_written_through_a_link(world: World, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "memory/away").symlink_to(tmp_path / "elsewhere")
    assert code(write(world, "memory/away/x", "x")) == "invalid_input"
    assert code(world.answer(files.DELETE, "ada", target=REVIEWER, path="memory/away/x")) == (
        "not_found"
    )
    assert list((tmp_path / "elsewhere").iterdir()) == []


# ── searching ────────────────────────────────────────────────────────────────────────────────


def test_text_is_found_in_any_case_in_what_a_caller_may_read(
    world: World, folder: Path, golden: Any
) -> None:
    assert golden == [
        world.call(files.SEARCH, name, target="PR Reviewer", text="be KIND")
        for name in ("cleo", "bob")
    ]


def test_a_search_stays_in_its_folder(world: World, folder: Path) -> None:
    answer = world.answer(files.SEARCH, "ada", target=REVIEWER, text="be", folder="memory")
    assert [(each.path, each.line) for each in answer.lines] == [("memory/log.md", 2)]
    assert (
        code(world.answer(files.SEARCH, "bob", target=REVIEWER, text="be", folder="memory"))
        == "not_permitted"
    )


def test_a_search_looks_at_what_is_there_now(world: World, folder: Path) -> None:
    placed(world)
    (folder / "knowledge/style.md").write_text("Be strict.")
    found = world.answer(files.SEARCH, "ada", target=REVIEWER, text="be", folder="knowledge")
    assert [each.text for each in found.lines] == ["Be strict."]


def test_a_search_ends_somewhere(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "outputs/long.txt").write_text("\n".join(["x" * 1_000 + "needle"] * 500))
    (folder / "outputs/large.txt").write_text("needle" + "x" * 3 * 1024 * 1024)
    (folder / "outputs/binary").write_bytes(b"needle\0\xff")
    answer = world.answer(files.SEARCH, "ada", target=REVIEWER, text="needle")
    assert (len(answer.lines), answer.more) == (100, True)
    assert {len(each.text) for each in answer.lines} == {200}
    assert {each.path for each in answer.lines} == {"outputs/long.txt"}
    monkeypatch.setattr(limits, "SEARCH_BYTES_MAX", 10)
    answer = world.answer(files.SEARCH, "ada", target=REVIEWER, text="needle")
    assert (answer.lines, answer.more) == ([], True)
