"""A store alone, without handlers: what is put on it, and what became of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import apsw
from msgspec import Struct

from agentworks.contracts.refusal import RefusalCode, Refuse, Refused
from agentworks.store import Snapshot, Store, Transaction

Done = TypeVar("Done")
Work = Callable[[Transaction], Any]

ADD = "INSERT INTO attempts (subject, attempted_at, number) VALUES (:subject, 1, :number)"
LIST = "SELECT number FROM attempts ORDER BY number"


class Number(Struct):
    number: int


class Shelf:
    """A store with an event loop around it; numbers lie on it, as rows of `attempts`.

    `rung` lists the topics that rang, `commits` counts the transactions.
    """

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.path = folder / "shelf.db"
        self.runner = asyncio.Runner()
        self.rung: list[str] = []
        self.rung_by_others = 0
        self.commits = 0
        ids = count(1)
        self.store = Store(
            self.path,
            self.rung.extend,
            ring_all=self.others,
            now=lambda: 1_700_000_000_000,
            new_id=lambda prefix: f"{prefix}_{next(ids)}",
            **{"synchronous": "OFF"} | settings,
        )
        self.store._db.set_commit_hook(self.committed)

    def others(self) -> None:
        self.rung_by_others += 1

    def committed(self) -> bool:
        self.commits += 1
        return False

    def run(self, scene: Coroutine[Any, Any, Done]) -> Done:
        return self.runner.run(scene)

    def transact(self, work: Callable[[Transaction], Done]) -> Done:
        return self.run(self.store.transact(work))

    def together(self, works: list[Work]) -> list[Any]:
        """What becomes of works that all wait while the writer is busy with something else."""

        async def scene() -> list[Any]:
            async with Busy(self.store):
                futures = [self.store.submit(work) for work in works]
                self.commits = -1  # the transaction that keeps the writer busy is not counted
            outcomes: list[Any] = await asyncio.gather(*futures, return_exceptions=True)
            return outcomes

        outcomes = self.run(scene())
        return [each if isinstance(each, BaseException) else each[0] for each in outcomes]

    def numbers(self) -> list[int]:
        """What lies on the shelf, as an outsider reads the file."""
        with self.outsider() as db:
            return [row[0] for row in db.execute(LIST)]

    @contextmanager
    def outsider(self) -> Iterator[apsw.Connection]:
        """The file as another process sees it."""
        db = apsw.Connection(str(self.path))
        db.set_busy_timeout(5_000)
        try:
            yield db
        finally:
            db.close()

    def close(self) -> None:
        self.store.close()
        self.runner.close()


class Busy:
    """While inside, the writer is in the middle of a transaction; it goes on at the end."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.started, self.gate = threading.Event(), threading.Event()

    def hold(self, tx: Transaction) -> None:
        self.started.set()
        assert self.gate.wait(20)

    async def __aenter__(self) -> None:
        self.future = self.store.submit(self.hold)
        assert await asyncio.to_thread(self.started.wait, 20)

    async def __aexit__(self, *_: object) -> None:
        self.gate.set()
        await self.future


def put(number: int, subject: str = "x") -> Work:
    """Work that puts one number on the shelf and returns it."""

    def work(tx: Transaction) -> int:
        tx.run(ADD, subject=subject, number=number)
        tx.ring(f"number/{number}")
        return number

    return work


def listed(db: Snapshot) -> list[int]:
    """Work that reads what lies on the shelf."""
    return [each.number for each in db.rows(Number, LIST)]


def refusal(problem: str) -> Refuse:
    return Refuse(Refused(RefusalCode.NOT_FOUND, [problem]))


def counted(works: list[Work]) -> tuple[list[Work], list[int]]:
    """The same works, and how often each of them has been done so far."""
    times = [0] * len(works)

    def counting(place: int, work: Work) -> Work:
        def done(tx: Transaction) -> Any:
            times[place] += 1
            return work(tx)

        return done

    return [counting(place, work) for place, work in enumerate(works)], times
