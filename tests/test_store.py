"""The store: what waits shares a transaction, and nobody pays for a neighbour's mistake."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from agentworks.contracts.refusal import Refuse
from agentworks.store import Held, Snapshot, Transaction
from tests.shelf import ADD, Busy, Shelf, counted, listed, put, refusal


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Shelf]]:
    made: list[Shelf] = []

    def shelf(**settings: Any) -> Shelf:
        made.append(Shelf(tmp_path, **settings))
        return made[-1]

    yield shelf
    for each in made:
        each.close()


@pytest.fixture
def shelf(make: Callable[..., Shelf]) -> Shelf:
    return make()


# ── group commit ─────────────────────────────────────────────────────────────────────────────


def test_operations_that_wait_share_one_transaction(shelf: Shelf) -> None:
    assert shelf.together([put(number) for number in range(200)]) == list(range(200))
    assert shelf.commits == 1
    assert shelf.numbers() == list(range(200))


def test_a_transaction_is_shared_by_no_more_than_a_batch(make: Callable[..., Shelf]) -> None:
    shelf = make(batch_max=10)
    shelf.together([put(number) for number in range(25)])
    assert shelf.commits == 3


def test_operations_are_done_in_the_order_in_which_they_came(shelf: Shelf) -> None:
    works = [listed if number % 2 else put(number) for number in range(20)]
    works[10] = raising(AssertionError("a fault in the middle"))
    seen = [each for each in shelf.together(works) if isinstance(each, list)]
    assert seen == [[each for each in range(0, last, 2) if each != 10] for last in range(1, 20, 2)]


def test_an_early_refusal_costs_nobody_a_second_try(shelf: Shelf) -> None:
    works, times = counted([put(1), raising(refusal("no such thing")), put(2)])
    first, refused, second = shelf.together(works)
    assert (first, second, shelf.numbers()) == (1, 2, [1, 2])
    assert isinstance(refused, Refuse) and refused.refused.problems == ["no such thing"]
    assert (times, shelf.commits) == ([1, 1, 1], 1)


def raising(raised: BaseException) -> Callable[[Transaction], Any]:
    def work(tx: Transaction) -> None:
        raise raised

    return work


def after_writing(work: Callable[[Transaction], Any]) -> Callable[[Transaction], Any]:
    def both(tx: Transaction) -> Any:
        put(99)(tx)
        return work(tx)

    return both


def without_account(tx: Transaction) -> None:
    tx.run("INSERT INTO sessions VALUES (x'00', 'acc_nobody', 1, 2)")


BAD = {
    "a late refusal": after_writing(raising(refusal("too late"))),
    "a fault": raising(AssertionError("a bug")),
    "a late fault": after_writing(raising(ZeroDivisionError())),
    "a broken key": after_writing(put(99)),
    "a broken reference": after_writing(without_account),
    "a broken statement": after_writing(lambda tx: tx.run("SELECT nothing FROM nowhere")),
    "a fault no future takes": after_writing(raising(StopIteration())),
    "a call to leave": after_writing(raising(SystemExit(1))),
    "a cancellation": after_writing(raising(asyncio.CancelledError())),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_whoever_must_be_undone_is_undone_alone(shelf: Shelf, bad: Any) -> None:
    good = [put(number) for number in range(20)]
    works, times = counted([*good[:10], bad, *good[10:]])
    outcomes = shelf.together(works)
    assert isinstance(outcomes.pop(10), Exception)
    assert outcomes == list(range(20))
    assert shelf.numbers() == list(range(20))
    assert shelf.commits == 20
    assert max(times) == 2
    assert sorted(shelf.rung) == sorted(f"number/{number}" for number in range(20))


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_the_writer_goes_on_after(shelf: Shelf, bad: Any) -> None:
    with pytest.raises(Exception):  # noqa: B017  # whichever it is
        shelf.transact(bad)
    assert shelf.transact(put(1)) == 1


def test_ids_drawn_in_an_undone_attempt_are_spent(shelf: Shelf) -> None:
    drawn: list[str] = []

    def draw(tx: Transaction) -> str:
        drawn.append(tx.new_id("msg"))
        return drawn[-1]

    kept = shelf.together([draw, draw, raising(AssertionError())])[:2]
    assert kept == drawn[2:] == ["msg_3", "msg_4"]


# ── answers and bells ────────────────────────────────────────────────────────────────────────


def test_an_answer_leaves_after_its_commit(shelf: Shelf) -> None:
    committing, go_on = threading.Event(), threading.Event()

    def hook() -> bool:
        committing.set()
        return not go_on.wait(20)

    async def scene() -> None:
        future = shelf.store.submit(put(1))
        assert await asyncio.to_thread(committing.wait, 20)
        await asyncio.sleep(0.05)
        assert (future.done(), shelf.numbers(), shelf.rung) == (False, [], [])
        go_on.set()
        await future
        assert shelf.numbers() == [1]

    shelf.store._db.set_commit_hook(hook)
    shelf.run(scene())


def test_whoever_is_told_can_read_what_was_done(shelf: Shelf) -> None:
    async def scene() -> None:
        for number in range(300):
            await shelf.store.submit(put(number))
            assert shelf.store.read(listed)[0][-1] == number

    shelf.run(scene())


def test_the_work_of_a_caller_who_hangs_up_is_done_and_its_bell_rings(shelf: Shelf) -> None:
    async def scene() -> None:
        async with Busy(shelf.store):
            tasks = [asyncio.ensure_future(shelf.store.transact(put(n))) for n in range(10)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await shelf.store.transact(listed)

    shelf.run(scene())
    assert shelf.numbers() == list(range(10))
    assert sorted(shelf.rung) == [f"number/{number}" for number in range(10)]


def test_a_refused_operation_rings_no_bell(shelf: Shelf) -> None:
    shelf.together([put(1), after_writing(raising(refusal("no")))])
    assert shelf.rung == ["number/1"]


def test_more_waiting_operations_than_the_limit_are_turned_away(make: Callable[..., Shelf]) -> None:
    shelf = make(waiting_max=3)
    outcomes = shelf.together([put(number) for number in range(5)])
    assert outcomes[:3] == [0, 1, 2]
    assert [type(each) for each in outcomes[3:]] == [Held, Held]
    assert shelf.numbers() == [0, 1, 2]


def test_closing_finishes_what_is_queued(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, batch_max=7)

    async def scene() -> None:
        busy = Busy(shelf.store)
        await busy.__aenter__()
        futures = [shelf.store.submit(put(number)) for number in range(100)]
        threading.Timer(0.05, busy.gate.set).start()
        shelf.store.close()
        assert [done for done, _ in await asyncio.gather(*futures)] == list(range(100))
        with pytest.raises(Held):
            await shelf.store.submit(put(100))

    shelf.run(scene())
    shelf.runner.close()
    assert shelf.numbers() == list(range(100))


def test_the_writer_finishes_although_the_loop_has_gone(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    busy = Busy(shelf.store)

    async def scene() -> None:
        await busy.__aenter__()
        for number in range(10):
            shelf.store.submit(put(number))

    shelf.run(scene())
    shelf.runner.close()
    busy.gate.set()
    shelf.store.close()
    assert shelf.numbers() == list(range(10))


# ── reading ──────────────────────────────────────────────────────────────────────────────────


def test_a_read_does_not_wait_for_the_writer(shelf: Shelf) -> None:
    async def scene() -> None:
        async with Busy(shelf.store):
            assert shelf.store.read(listed) == ([], None)

    shelf.run(scene())


def test_a_read_sees_one_moment(shelf: Shelf) -> None:
    def twice(db: Snapshot) -> tuple[list[int], list[int]]:
        before = listed(db)
        with shelf.outsider() as other:
            other.execute(ADD, {"subject": "other", "number": 2})
        return before, listed(db)

    shelf.transact(put(1))
    assert shelf.store.read(twice)[0] == ([1], [1])
    assert shelf.store.read(listed)[0] == [1, 2]


@pytest.mark.parametrize("raised", [refusal("no"), AssertionError("a bug"), KeyError("x")])
def test_a_read_that_raises_leaves_no_transaction_open(shelf: Shelf, raised: Exception) -> None:
    def read(db: Snapshot) -> None:
        listed(db)
        raise raised

    with pytest.raises(type(raised)):
        shelf.store.read(read)
    shelf.transact(put(1))
    with shelf.outsider() as db:
        assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0] == 0
    assert shelf.store.read(listed)[0] == [1]


def test_a_read_cannot_write(shelf: Shelf) -> None:
    shelf.transact(put(1))
    with pytest.raises(apsw.ReadOnlyError):
        shelf.store.read(lambda db: db.value("DELETE FROM attempts"))
    assert shelf.numbers() == [1]
