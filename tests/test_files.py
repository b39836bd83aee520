"""A call's files: whole characters, whole files, and never one from outside (case C58)."""

from __future__ import annotations

import base64
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworks.rules import limits
from agentworks.runners import files, folders
from agentworks.runners.files import BadName, NoSuchFile, Page

INSIDE = ("crew", ".calls", "c1", "out")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path.joinpath(*INSIDE)
    folder.mkdir(parents=True)
    return folder


def raw(page: Page) -> bytes:
    return page.content.encode() if page.encoding == "utf-8" else base64.b64decode(page.content)


def pages(root: Path, name: str, limit: int, offset: int = 0) -> list[Page]:
    found = []
    at: int | None = offset
    while at is not None:
        found.append(files.page(root, INSIDE, name, at, limit))
        at = found[-1].next_offset
    return found


# ── Pages ────────────────────────────────────────────────────────────────────────────────────


def test_pages_put_together_are_the_file_and_no_character_is_cut(tmp_path: Path, out: Path) -> None:
    content = b"a" * (limits.FILE_PAGE_BYTES_MAX - 1) + "あいう😀".encode()
    (out / "big.txt").write_bytes(content)
    found = pages(tmp_path, "big.txt", 50 << 20)
    assert [page.encoding for page in found] == ["utf-8", "utf-8"]
    assert [page.offset for page in found] == [0, limits.FILE_PAGE_BYTES_MAX - 1]
    assert b"".join(map(raw, found)) == content
    assert all(len(raw(page)) <= limits.FILE_PAGE_BYTES_MAX for page in found)
    assert found[0].size == len(content)


@given(
    content=st.one_of(
        st.binary(max_size=40),
        st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace")),
        st.lists(
            st.sampled_from([b"a", "é".encode(), "あ".encode(), "😀".encode(), b"\x80", b"\xe3"])
        ).map(b"".join),
    ),
    limit=st.integers(1, 12),
    offset=st.integers(0, 50),
)
def test_any_file_is_read_whole_from_any_offset(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, limit: int, offset: int
) -> None:
    root = tmp_path_factory.getbasetemp() / "any"
    root.joinpath(*INSIDE).mkdir(parents=True, exist_ok=True)
    root.joinpath(*INSIDE, "f").write_bytes(content)
    found = pages(root, "f", limit, offset)
    assert b"".join(map(raw, found)) == content[offset:]
    assert all(len(raw(page)) <= limit and not page.changed for page in found)


def test_a_page_at_or_after_the_end_is_empty(tmp_path: Path, out: Path) -> None:
    (out / "f").write_bytes(b"abc")
    for offset in (3, 4, 10**12):
        page = files.page(tmp_path, INSIDE, "f", offset)
        assert (page.content, page.next_offset, page.size) == ("", None, 3)


def test_what_is_no_text_is_base64(tmp_path: Path, out: Path) -> None:
    for content in (b"\xff\x00\x01", b"text with a \0 in it"):
        (out / "f").write_bytes(content)
        page = files.page(tmp_path, INSIDE, "f")
        assert (page.encoding, raw(page)) == ("base64", content)


def test_a_page_that_begins_inside_a_character_loses_nothing(tmp_path: Path, out: Path) -> None:
    (out / "f").write_bytes("あいう".encode())
    found = pages(tmp_path, "f", 4, offset=1)
    assert found[0].encoding == "base64"
    assert b"".join(map(raw, found)) == "あいう".encode()[1:]


def test_a_file_that_is_not_the_one_listed_says_so(tmp_path: Path, out: Path) -> None:
    (out / "f").write_bytes(b"one")
    listed = files.listing(tmp_path, *INSIDE).files[0]
    assert files.page(tmp_path, INSIDE, "f", listed=listed).changed is False
    (out / "f").write_bytes(b"longer")
    assert files.page(tmp_path, INSIDE, "f", listed=listed).changed is True
    (out / "f").unlink()
    (out / "f").write_bytes(b"two")
    assert files.page(tmp_path, INSIDE, "f", listed=listed).changed is True


# ── Names ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name",
    [
        *("", "/", "/etc/passwd", "../c10/x", "a/../../x", "a//b", "a/", ".", "..", "./f", ".env"),
        *("a/.git/config", "a\0b", "a\nb", "a\x7f", "\ud800", "x" * 2_000, "~/x/../.ssh"),
    ],
    ids=range(18),
)
def test_a_name_that_could_lead_out_is_refused(tmp_path: Path, out: Path, name: str) -> None:
    (tmp_path / "crew/.calls/c10").mkdir()
    (tmp_path / "crew/.calls/c10/x").write_text("another call's")
    with pytest.raises(BadName):
        files.page(tmp_path, INSIDE, name)


def test_everything_wrong_with_a_page_is_named_at_once(tmp_path: Path, out: Path) -> None:
    with pytest.raises(BadName) as raised:
        files.page(tmp_path, INSIDE, "/.x\n", offset=-1, limit=0)
    assert len(raised.value.problems) == 5


@pytest.fixture
def odd(out: Path) -> Path:
    """A folder with everything in it that is no plain file."""
    (out / "plain.txt").write_text("plain")
    (out / "sub").mkdir()
    (out / "sub/deep.txt").write_text("deep")
    (out / "link").symlink_to("/etc/passwd")
    (out / "loop").symlink_to(out)
    (out / "sub-link").symlink_to(out / "sub")
    (out / "missing-link").symlink_to("nowhere")
    os.link(out / "sub/deep.txt", out / "twice")
    os.mkfifo(out / "pipe")
    (out / ".hidden").write_text("hidden")
    (out / ".git").mkdir()
    (out / ".git/config").write_text("hidden")
    (out / "new\nline").write_text("odd name")
    (out / os.fsdecode(b"bad-\xff-name")).write_text("odd name")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(out)  # a socket's path is short
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
    return out


def test_only_plain_files_are_listed(tmp_path: Path, odd: Path) -> None:
    assert [each.file for each in files.listing(tmp_path, *INSIDE).files] == ["plain.txt"]
    (odd / "twice").unlink()
    found = files.listing(tmp_path, *INSIDE)
    assert [each.file for each in found.files] == ["plain.txt", "sub/deep.txt"]
    assert [each.size for each in found.files] == [5, 4]


@pytest.mark.parametrize(
    "name",
    [
        *("link", "loop/plain.txt", "sub-link/deep.txt", "missing-link", "twice", "pipe", "sub"),
        *("socket", "absent", "plain.txt/x", "sub/absent", "x" * 300),
    ],
)
def test_nothing_else_is_read_and_nothing_hangs(tmp_path: Path, odd: Path, name: str) -> None:
    with pytest.raises(NoSuchFile):
        files.page(tmp_path, INSIDE, name)


def test_a_file_replaced_by_a_link_after_listing_is_not_followed(tmp_path: Path, out: Path) -> None:
    (out / "f").write_text("mine")
    listed = files.listing(tmp_path, *INSIDE).files[0]
    (out / "f").unlink()
    (out / "f").symlink_to("/etc/passwd")
    with pytest.raises(NoSuchFile):
        files.page(tmp_path, INSIDE, "f", listed=listed)


def test_a_call_folder_replaced_by_a_link_is_not_followed(tmp_path: Path, out: Path) -> None:
    out.rmdir()
    out.symlink_to("/etc")
    assert files.listing(tmp_path, *INSIDE).files == []
    with pytest.raises(NoSuchFile):
        files.page(tmp_path, INSIDE, "passwd")
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        files.write_new(tmp_path, INSIDE, "mark", b"x")


def test_listing_is_bounded(tmp_path: Path, out: Path) -> None:
    for number in range(limits.FILES_LISTED_MAX + 5):
        (out / f"{number:05}").touch()
    found = files.listing(tmp_path, *INSIDE)
    assert (len(found.files), found.more) == (limits.FILES_LISTED_MAX, True)
    deep = out.joinpath(*("d" for _ in range(100)))
    deep.mkdir(parents=True)
    (deep / "f").touch()
    assert files.listing(tmp_path, *INSIDE).more


def test_an_absent_folder_has_no_files(tmp_path: Path) -> None:
    assert files.listing(tmp_path, "nowhere").files == []


def test_a_file_is_written_in_place_of_a_link_not_through_it(tmp_path: Path, out: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    (out / "f").symlink_to(outside)
    files.write_new(tmp_path, INSIDE, "f", b"mine")
    files.write_new(tmp_path, INSIDE, "sub/g", b"mine")
    assert outside.read_text() == "untouched"
    assert (out / "f").read_bytes() == (out / "sub/g").read_bytes() == b"mine"


# ── Folders ──────────────────────────────────────────────────────────────────────────────────


def test_a_turn_has_folders_of_its_own_that_no_earlier_turn_had(tmp_path: Path) -> None:
    made = folders.prepare(tmp_path / "agents", "crew", "call_1")
    for folder in (made.out, made.work, made.home, made.tmp, made.outputs):
        assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
    assert made.result_file == tmp_path / "agents/crew/.calls/call_1/out/result.json"
    with pytest.raises(FileExistsError):
        folders.prepare(tmp_path / "agents", "crew", "call_1")


@pytest.mark.parametrize("name", ["", "..", "a/b", ".x", "a\0", "é", "x" * 200], ids=range(7))
def test_an_id_that_is_no_plain_name_is_a_fault(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        folders.place(tmp_path, "crew", name)
    with pytest.raises(ValueError, match="not an id"):
        folders.place(tmp_path, name, "call_1")


def test_what_is_private_to_a_turn_is_removed_however_it_was_left(tmp_path: Path) -> None:
    made = folders.prepare(tmp_path / "agents", "crew", "call_1")
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "f").touch()
    (made.home / "locked/deep").mkdir(parents=True)
    (made.home / "locked/deep/f").touch()
    (made.home / "locked/deep").chmod(0)
    (made.home / "locked").chmod(0)
    (made.home / "link").symlink_to(kept)
    made.tmp.rmdir()
    made.tmp.symlink_to(kept)
    folders.discard_private(made)
    assert sorted(path.name for path in made.turn.iterdir()) == ["out"]
    assert (kept / "f").exists()


def test_an_environment_that_cannot_be_given_is_refused_with_every_reason(tmp_path: Path) -> None:
    made = folders.prepare(tmp_path, "crew", "call_1")
    with pytest.raises(folders.NoSuchEnvironment) as raised:
        folders.environment(
            made,
            variables={"OK": "x", "BIG": "x" * 200_000, "NUL": "\0", "bad name": ""},
            secrets={"LD_PRELOAD": "evil.so", "PATH": "/evil", "KEY": "k", "AGENTWORKS_TOKEN": ""},
        )
    named = [problem.split(":")[0].split(" ")[0] for problem in raised.value.problems]
    assert named == ["LD_PRELOAD", "PATH", "AGENTWORKS_TOKEN", "VAR_BIG", "VAR_NUL", "VAR_bad"]


def test_without_a_call_there_is_no_function_environment(tmp_path: Path) -> None:
    made: Any = folders.prepare(tmp_path, "crew", "turn_1")
    env = folders.environment(made, token="t")
    assert not [name for name in env if name.startswith("FUNCTION_")]
    assert env["CREW_RUN_DIR"] == env["CREW_OUTPUT_DIR"] == str(made.outputs)
