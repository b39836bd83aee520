"""Files of calls: named when a call ends, read in pages, and gone after some days."""

from __future__ import annotations

import os
from typing import Any

from agentworks.contracts.calls import READ_FILE
from agentworks.tables import calls
from tests import calling
from tests.calling import Office

an_office = calling.an_office

FILE = "report/findings.md"


def finished(office: Office, content: bytes = b"Two things.\n") -> str:
    """A call that has ended, with one file."""
    call_id = office.called()
    office.begin(call_id)
    path = office.writes(call_id, FILE, content)
    found = path.stat()
    listed = f'[{{"file": "{FILE}", "size": {found.st_size}, "modified": {found.st_mtime_ns}}}]'
    office.end(call_id, "completed", files=listed)
    return call_id


def read(office: Office, call_id: str, name: str = "laptop", /, **args: Any) -> Any:
    return office.answer(READ_FILE, name, call_id=call_id, **args)


def test_a_page_of_a_file(office: Office, golden: Any) -> None:
    call_id = finished(office)
    assert golden == office.call(READ_FILE, "laptop", call_id=call_id, file=FILE, limit=4)


def test_pages_put_together_are_the_file(office: Office) -> None:
    call_id = finished(office, "ein Bär\n".encode() * 100)
    page = read(office, call_id, file=FILE, limit=9)
    text = page.content
    while page.next_offset is not None:
        page = read(office, call_id, file=FILE, offset=page.next_offset, limit=9)
        text += page.content
    assert text == "ein Bär\n" * 100


def test_the_files_of_an_ended_call_are_those_on_record(office: Office, golden: Any) -> None:
    call_id = finished(office)
    office.writes(call_id, "later.md", b"after the end")
    assert golden == office.call(READ_FILE, "laptop", call_id=call_id)


def test_the_files_of_a_running_call_are_those_that_are_there(office: Office) -> None:
    call_id = office.called()
    assert read(office, call_id).files == []
    office.writes(call_id, "draft.md", b"draft")
    assert [each.file for each in read(office, call_id).files] == ["draft.md"]
    assert read(office, call_id, file="draft.md").content == "draft"


def test_a_file_that_is_not_as_it_was_listed_says_so(office: Office) -> None:
    call_id = finished(office)
    assert read(office, call_id, file=FILE).changed is False
    path = office.writes(call_id, FILE, b"Three things.")
    os.utime(path, ns=(5, 5))
    assert read(office, call_id, file=FILE).changed is True


def test_a_file_that_is_not_there_is_unknown(office: Office, golden: Any) -> None:
    call_id = finished(office)
    assert golden == office.call(READ_FILE, "laptop", call_id=call_id, file="findings.md")


def test_a_name_that_makes_no_sense_is_refused_with_all_that_is_wrong(
    office: Office, golden: Any
) -> None:
    call_id = finished(office)
    assert golden == office.call(
        READ_FILE, "laptop", call_id=call_id, file="../.secret//x\n", offset=0
    )


def test_nothing_outside_the_folder_of_a_call_is_read(office: Office) -> None:
    one, other = finished(office), finished(office)
    inside = office.writes(one, "x", b"").parent
    os.symlink("/etc/passwd", inside / "passwd")
    os.link(office.writes(other, "theirs", b"secret"), inside / "theirs")
    os.mkfifo(inside / "pipe")
    for file in ("passwd", "theirs", "pipe", "report"):
        assert read(office, one, file=file).code == "not_found", file
    for file in ("/etc/passwd", f"../../{other}/out/{FILE}", "..", "a/../b"):
        assert read(office, one, file=file).code == "invalid_input", file


def test_files_that_were_removed_answer_expired(office: Office, golden: Any) -> None:
    call_id = finished(office)
    office.transact(lambda tx: calls.expire_files(tx, call_id))
    assert golden == office.call(READ_FILE, "laptop", call_id=call_id, file=FILE)
    assert [each.file for each in read(office, call_id).files] == [FILE]
    assert "have been removed" in office.got(call_id).next


def test_files_whose_folder_is_gone_answer_expired_before_the_sweep_says_so(
    office: Office,
) -> None:
    call_id = finished(office)
    path = office.writes(call_id, FILE, b"")
    turn = path.parents[2]
    path.unlink()
    os.removedirs(path.parent)
    assert not turn.exists()
    assert read(office, call_id, file=FILE).code == "expired"
    assert read(office, call_id, file="other.md").code == "not_found"


def test_the_files_of_a_call_are_for_those_who_may_see_it(office: Office) -> None:
    call_id = finished(office)
    assert read(office, call_id, "dora", file=FILE).content == "Two things.\n"
    assert read(office, call_id, "watcher", file=FILE).content == "Two things.\n"
    for name in ("bob", "cleo", "narrow"):
        assert read(office, call_id, name, file=FILE).code == "not_found"
        assert read(office, call_id, name).code == "not_found"
