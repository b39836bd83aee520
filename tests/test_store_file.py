"""The store's file: a full disk, other processes, a log that stays short, a file that is none."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from agentworks import store as stores
from agentworks.bells import Bells
from agentworks.contracts.messages import READ, SEND, MessagePage
from agentworks.store import Full, Held, Store, Transaction, file
from tests.conftest import World
from tests.shelf import Shelf, Work, listed, put, refusal

FOREIGN_COMMIT = """
import apsw, sys
db = apsw.Connection(sys.argv[1])
db.set_busy_timeout(5000)
db.execute("INSERT INTO attempts VALUES ('another process', 1, 1)")
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.close()


def weight(number: int) -> Callable[[Transaction], int]:
    """Work that puts 40 kB on the shelf, in two steps."""

    def work(tx: Transaction) -> int:
        put(number, "a" * 20_000)(tx)
        put(number, "b" * 20_000)(tx)
        return number

    return work


# ── a full disk ──────────────────────────────────────────────────────────────────────────────


def test_on_a_full_disk_everybody_is_told_and_nothing_is_half_kept(shelf: Shelf) -> None:
    shelf.transact(weight(0))
    shelf.store._db.pragma("max_page_count", shelf.store._db.pragma("page_count") + 30)
    outcomes = shelf.together([weight(number) for number in range(1, 11)])
    kept = [each for each in outcomes if isinstance(each, int)]
    assert 0 < len(kept) < 10
    assert {type(each) for each in outcomes if not isinstance(each, int)} == {Full}
    assert shelf.numbers() == sorted([0, 0, *kept, *kept])
    assert shelf.together([raising(), weight(11)])[0].refused.problems == ["not for you"]


def raising() -> Callable[[Transaction], None]:
    def work(tx: Transaction) -> None:
        raise refusal("not for you")

    return work


def test_with_room_again_all_goes_on(shelf: Shelf) -> None:
    shelf.store._db.pragma("max_page_count", shelf.store._db.pragma("page_count"))
    for _ in range(3):
        with pytest.raises(Full):
            shelf.transact(weight(1))
        assert shelf.store.read(listed)[0] == []
    shelf.store._db.pragma("max_page_count", 1_000_000)
    assert shelf.transact(weight(1)) == 1


# ── other processes ──────────────────────────────────────────────────────────────────────────


def test_while_another_process_holds_the_file_all_are_turned_away_at_once(shelf: Shelf) -> None:
    shelf.store._db.set_busy_timeout(100)
    with shelf.outsider() as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        outcomes = shelf.run(all_at_once(shelf, [put(number) for number in range(1_000)]))
        assert time.monotonic() - began < 5, "each batch waited, or each operation"
        assert {type(each) for each in outcomes} == {Held}
        assert shelf.store.read(listed)[0] == []
    assert shelf.transact(put(1)) == 1


def test_a_batch_that_is_undone_just_when_the_file_is_taken_waits_only_once(shelf: Shelf) -> None:
    shelf.store._db.set_busy_timeout(100)
    with shelf.outsider() as other:

        def take() -> None:
            shelf.store._db.set_rollback_hook(None)
            other.execute("BEGIN IMMEDIATE")

        shelf.store._db.set_rollback_hook(take)
        began = time.monotonic()
        outcomes = shelf.together([put(1), put(1), *(put(number) for number in range(2, 200))])
        assert time.monotonic() - began < 5
        assert {type(each) for each in outcomes} == {Held}
    assert shelf.transact(put(1)) == 1


def test_a_short_hold_by_another_process_is_waited_out(shelf: Shelf) -> None:
    async def scene() -> None:
        with shelf.outsider() as other:
            other.execute("BEGIN IMMEDIATE")
            future = asyncio.ensure_future(shelf.store.transact(put(1)))
            await asyncio.sleep(0.2)
            other.execute("COMMIT")
            assert await future == 1

    shelf.run(scene())


async def all_at_once(shelf: Shelf, works: list[Work]) -> list[Any]:
    futures = [shelf.store.submit(work) for work in works]
    outcomes: list[Any] = await asyncio.gather(*futures, return_exceptions=True)
    return outcomes


LOADS = {"idle": (0, 0.1), "a write now and then": (1, 0.2), "bursts": (20, 0.2), "busy": (10, 0.0)}


@pytest.mark.parametrize(("size", "pause"), LOADS.values(), ids=LOADS.keys())
def test_a_commit_of_another_process_wakes_all_within_two_seconds(
    shelf: Shelf, size: int, pause: float
) -> None:
    async def load() -> None:
        number = 0
        while shelf.rung_by_others == 0:
            number += 100
            await all_at_once(shelf, [put(number + place) for place in range(size)])
            await asyncio.sleep(pause)

    async def scene() -> float:
        await shelf.store.transact(listed)
        loaded = asyncio.ensure_future(load())
        await asyncio.to_thread(commit_elsewhere, shelf.path)
        began = time.monotonic()
        while shelf.rung_by_others == 0 and time.monotonic() - began < 5:
            await asyncio.sleep(0.01)
        shelf.rung_by_others += 1
        await loaded
        return time.monotonic() - began

    assert shelf.run(scene()) < 2


def commit_elsewhere(path: Path) -> None:
    subprocess.run([sys.executable, "-c", FOREIGN_COMMIT, path], check=True)


def test_own_commits_are_not_taken_for_those_of_others(shelf: Shelf) -> None:
    for number in range(50):
        shelf.transact(put(number))
    assert shelf.rung_by_others == 0


# ── the log ──────────────────────────────────────────────────────────────────────────────────


def test_waiting_readers_hold_no_transaction_open(world: World) -> None:
    async def read(args: dict[str, Any]) -> Any:
        return await world.dispatch(READ, world.who("reviewer"), args)

    async def scene() -> list[Any]:
        answers = [asyncio.ensure_future(read(waiting)) for _ in range(100)]
        while world.bells.waiters < 100:
            await asyncio.sleep(0)
        args = {"target": "agent:worker", "message": "x" * 20_000}
        await world.dispatch(SEND, world.who("laptop"), args)
        with closing(apsw.Connection(str(world.path))) as outside:
            busy, _, _ = outside.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0]
            assert (busy, os.stat(f"{world.path}-wal").st_size) == (0, 0)
        assert world.bells.waiters == 100
        args = {"target": "agent:reviewer", "message": "Hi"}
        await world.dispatch(SEND, world.who("laptop"), args)
        return await asyncio.gather(*answers)

    waiting = {"agent_name": "reviewer", "wait_seconds": 20}
    pages = world.run(scene())
    assert all(isinstance(page, MessagePage) and len(page.messages) == 1 for page in pages)


def test_the_log_shrinks_when_an_outside_reader_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "WAL_BYTES_MAX", 200_000)
    monkeypatch.setattr(stores, "_LOOK_AROUND_SECONDS", 0.02)
    shelf = Shelf(tmp_path)
    with shelf.outsider() as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM attempts").fetchall()
        for number in range(100):
            shelf.transact(weight(number))
        began = time.monotonic()
        time.sleep(0.1)
        shelf.transact(put(1_000))
        assert time.monotonic() - began < 2, "nobody waits for a reader of another process"
        assert log_bytes(shelf) > 2_000_000
        reader.execute("COMMIT")
    while log_bytes(shelf) > 200_000 and time.monotonic() - began < 10:
        time.sleep(0.02)
    assert log_bytes(shelf) <= 200_000
    assert shelf.transact(put(1_001)) == 1_001
    shelf.close()


def log_bytes(shelf: Shelf) -> int:
    return os.stat(f"{shelf.path}-wal").st_size


def test_the_file_is_kept_as_the_measurements_ask(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, synchronous="FULL")
    pragmas = ("journal_mode", "synchronous", "foreign_keys", "journal_size_limit")
    assert [shelf.store._db.pragma(name) for name in pragmas] == ["wal", 2, 1, 64 * 1024 * 1024]
    shelf.close()


def test_a_word_in_double_quotes_is_a_name_and_never_text(shelf: Shelf) -> None:
    with pytest.raises(apsw.SQLError, match="no such column"):
        shelf.transact(lambda tx: tx.value('SELECT "typo"'))


# ── a file that cannot be opened ─────────────────────────────────────────────────────────────


def opened(path: Path) -> Store:
    return Store(path, Bells().ring)


def test_a_file_that_is_no_store_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "agentworks.db"
    path.write_bytes(b"Dear diary, " * 1_000)
    with pytest.raises(OSError, match="not a database"):
        opened(path)
    assert path.read_bytes() == b"Dear diary, " * 1_000


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError) as raised:
        opened(tmp_path / "nowhere" / "agentworks.db")
    assert raised.value.filename == str(tmp_path / "nowhere" / "agentworks.db")


def test_a_file_that_another_process_keeps_to_itself_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "_BUSY_MILLISECONDS", 50)
    Shelf(tmp_path).close()
    with closing(apsw.Connection(str(tmp_path / "shelf.db"))) as other:
        other.pragma("locking_mode", "exclusive")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Held):
            opened(tmp_path / "shelf.db")
        other.execute("COMMIT")


def test_a_file_that_cannot_be_opened_is_not_kept_open(tmp_path: Path) -> None:
    path = tmp_path / "agentworks.db"
    path.write_bytes(b"Dear diary, " * 1_000)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(OSError):
            opened(path)
    assert len(os.listdir("/proc/self/fd")) == before
