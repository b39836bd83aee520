"""One SQLite file, one writer thread with group commit, one clock reading per transaction.

Waiting operations share a transaction (facts: "B2", the fastest of the designs measured). When one
of them raises after it has written, the batch is undone and each is done again alone, so neither a
refusal nor a fault harms a neighbour. An operation may therefore run twice: it is a function of
the rows, its request, `tx.now` and ids from `tx.new_id`. Answers leave after COMMIT, on the loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import apsw

from agentworks import clock
from agentworks.contracts.refusal import Refuse
from agentworks.store import file
from agentworks.store.file import Full, Held, connect
from agentworks.store.rows import Patience, Snapshot, Transaction

__all__ = ["Full", "Held", "Patience", "Snapshot", "Store", "Transaction", "connect"]

Done = TypeVar("Done")

_LOOK_AROUND_SECONDS = 1.0  # how often the writer looks for commits of other processes


class _Waiting(NamedTuple):
    work: Callable[[Transaction], Any]
    future: asyncio.Future[Any]


class _Finished(NamedTuple):
    future: asyncio.Future[Any]
    result: Any
    raised: Exception | None


class Store:
    """Every change passes through `transact`, on the writer's thread; reads pass beside it.

    `path` is the file, created if absent and brought to the newest schema. `ring` receives the
    topics of each committed batch, on the event loop; `ring_all` is told when another process
    has committed. Raises NewerSchema, Full, Held or OSError when the file cannot be opened.
    """

    def __init__(
        self,
        path: Path | str,
        ring: Callable[[Iterable[str]], None],
        *,
        ring_all: Callable[[], None] = lambda: None,
        now: Callable[[], int] = clock.now,
        new_id: Callable[[str], str] = clock.new_id,
        new_uuid: Callable[[], str] = clock.new_uuid,
        waiting_max: int = 10_000,
        batch_max: int = 256,
        synchronous: str = "FULL",
    ) -> None:
        self.path = str(path)
        self._now, self._new_id, self._new_uuid = now, new_id, new_uuid
        self._ring, self._ring_all = ring, ring_all
        self._waiting_max, self._batch_max = waiting_max, batch_max
        self._db, self._reader = file.pair(self.path, synchronous, now())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: deque[_Waiting] = deque()
        self._gate = threading.Lock()  # opened by the loop for each batch
        self._gate.acquire()
        self._begins = False  # whether the loop is about to let a batch begin
        self._writing = False  # whether the writer has one
        self._look_at = 0.0  # by the loop's clock: when a busy writer looks around again
        self._alone = 0  # how many at the head of the queue are done by themselves
        self._stopping = False
        self._seen_version = self._db.pragma("data_version")
        self._writer = threading.Thread(target=self._write_for_ever, name="writer", daemon=True)
        self._writer.start()

    # ── reading, on the event loop ──────────────────────────────────────────────────────────

    def read(self, work: Callable[[Snapshot], Done]) -> tuple[Done, Patience | None]:
        """Do `work` on one consistent snapshot. No transaction outlives this call.

        Raises what `work` raises, Full or Held.
        """
        db = self._reader
        try:
            db.execute("BEGIN")
            snapshot = Snapshot(db, self._now())
            return work(snapshot), snapshot.patience
        except apsw.Error as raised:
            raise file.named(raised, db) from None
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")

    @property
    def waiting(self) -> int:
        """Operations queued for the writer."""
        return len(self._queue)

    # ── writing, on the writer's thread ─────────────────────────────────────────────────────

    def submit(self, work: Callable[[Transaction], Done]) -> asyncio.Future[tuple[Done, Any]]:
        """Queue `work`. Once queued it is done, whole, even if its caller hangs up.

        The future gives what `work` returned and what it wants to wait on; it raises what `work`
        raised, `Full` or `Held`. Only the event loop may call this.
        """
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = self._loop.create_future()
        if len(self._queue) >= self._waiting_max or self._stopping:
            future.set_exception(Held())
            return future
        self._queue.append(_Waiting(work, future))
        self._begin_soon()
        return future

    async def transact(self, work: Callable[[Transaction], Done]) -> Done:
        """`submit`, waiting for the result alone."""
        done, _ = await self.submit(work)
        return done

    def close(self) -> None:
        """Finish what is queued, then let go of the file."""
        self._stopping = True
        if self._gate.locked():
            self._gate.release()
        self._writer.join()
        self._reader.close()
        self._db.close()

    def _begin_soon(self) -> None:
        """Let a batch begin when the loop has come round: all who asked meanwhile share it."""
        if not self._begins and not self._writing and self._loop is not None:
            self._begins = True
            self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        """Open the gate for one batch. The next begins when this one's answers have left, so
        that whoever asks again at once is in it: larger batches, and fewer of them."""
        self._begins = False
        if self._queue and not self._stopping:
            self._writing = True
            self._gate.release()

    def _write_for_ever(self) -> None:
        while not self._stopping:
            if self._gate.acquire(timeout=_LOOK_AROUND_SECONDS):
                self._write()
            else:
                file.shorten_log(self._db, self.path)
                self._notice_other_processes()
        while self._queue:
            self._write()

    def _write(self) -> None:
        batch = self._taken(1 if self._alone else self._batch_max)
        self._alone = max(0, self._alone - 1)
        self._on_loop(self._deliver, *self._commit(batch))
        if self._loop is not None and self._loop.time() >= self._look_at:  # however busy
            self._look_at = self._loop.time() + _LOOK_AROUND_SECONDS
            self._notice_other_processes()

    def _taken(self, most: int) -> list[_Waiting]:
        return [self._queue.popleft() for _ in range(min(len(self._queue), most))]

    def _commit(self, batch: list[_Waiting]) -> tuple[list[_Finished], set[str]]:
        finished: list[_Finished] = []
        rung: set[str] = set()
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except apsw.Error as raised:
            return self._turned_away(batch, raised), set()
        try:
            memo: dict[Any, Any] = {}
            for each in batch:
                finished.append(self._perform(each, rung, memo))
            self._db.execute("COMMIT")
            return finished, rung
        except BaseException as raised:  # nothing may end this thread: everybody waits for it
            reason = file.named(raised, self._db)
            if self._db.in_transaction:  # a full disk has already ended it
                self._db.execute("ROLLBACK")
            if len(batch) == 1:
                return [_Finished(batch[0].future, None, reason)], set()
        self._queue.extendleft(reversed(batch))
        self._alone = len(batch)
        return [], set()

    def _turned_away(self, batch: list[_Waiting], raised: apsw.Error) -> list[_Finished]:
        """Nobody got in: another process holds the file. Whoever queued meanwhile has waited too,
        and would wait as long again for each batch before its own."""
        batch = batch + self._taken(self._waiting_max)
        return [_Finished(each.future, None, file.named(raised, self._db)) for each in batch]

    def _perform(self, each: _Waiting, rung: set[str], memo: dict[Any, Any]) -> _Finished:
        before = self._db.total_changes()
        tx = Transaction(self._db, self._now(), self._new_id, self._new_uuid, memo)
        try:
            done = each.work(tx)
        except Refuse as refusal:
            if self._db.total_changes() != before:
                raise  # it had written: the batch is undone, and this one refused alone
            return _Finished(each.future, None, refusal)
        finally:
            if not tx.keeps_memo:
                memo.clear()
        rung |= tx.rung
        return _Finished(each.future, (done, tx.patience), None)

    def _deliver(self, finished: list[_Finished], rung: set[str]) -> None:
        try:
            for future, result, raised in finished:
                if future.done():
                    continue
                if raised is None:
                    future.set_result(result)
                else:
                    future.set_exception(raised)
            self._ring(rung)
        finally:
            self._writing = False
            if self._queue:
                self._begin_soon()

    def _notice_other_processes(self) -> None:
        try:
            version = self._db.pragma("data_version")
        except apsw.Error:
            return  # held or damaged: the next operation will be told
        if version != self._seen_version and self._loop is not None:
            self._seen_version = version
            self._on_loop(self._ring_all)

    def _on_loop(self, tell: Callable[..., None], *what: Any) -> None:
        if self._loop is None:
            return  # nobody has asked anything yet
        try:
            self._loop.call_soon_threadsafe(tell, *what)
        except RuntimeError:
            return  # the loop has gone: the work is committed, nobody is left to tell
