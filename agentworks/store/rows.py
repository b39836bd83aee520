"""What a handler may touch: rows as they are and the time, or changes, fresh ids and bells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import apsw
from msgspec import Struct

from agentworks import clock

Row = TypeVar("Row", bound=Struct)


class Patience(NamedTuple):
    """What a patient caller waits for, and the read that will then answer it."""

    topic: str
    then: Any = None


class Snapshot:
    """What a reading handler may touch: rows as they are, and the time.

    `memo` holds what was read once and cannot have changed since (see Transaction.keeps_memo).
    """

    def __init__(self, db: apsw.Connection, now: int, memo: dict[Any, Any] | None = None) -> None:
        self._db = db
        self.now = now
        self.memo = {} if memo is None else memo
        self.patience: Patience | None = None

    def rows(self, into: type[Row], sql: str, **values: Any) -> list[Row]:
        """All rows at once: an open cursor would pin its snapshot. Columns are in field order."""
        return [into(*row) for row in self._db.execute(sql, values)]

    def row(self, into: type[Row], sql: str, **values: Any) -> Row | None:
        """The only row, or None. The statement must not find two."""
        found = self._db.execute(sql, values).fetchall()
        return into(*found[0]) if found else None

    def value(self, sql: str, **values: Any) -> Any:
        """The first column of the only row, or None."""
        found = self._db.execute(sql, values).fetchall()
        return found[0][0] if found else None

    def wait_on(self, topic: str, then: Any = None) -> None:
        """Offer to answer again when `topic` rings. Only reads are ever performed twice,
        so an operation that writes must say which read continues it."""
        self.patience = Patience(topic, then)


class Transaction(Snapshot):
    """What a writing handler may touch besides: changes, fresh ids, and bells.

    The memo is shared by the operations of one transaction. It is emptied after each of them,
    unless that one promises, with `keeps_memo`, to change nothing that is remembered there.
    """

    def __init__(
        self,
        db: apsw.Connection,
        now: int,
        new_id: Callable[[str], str],
        new_uuid: Callable[[], str] = clock.new_uuid,
        memo: dict[Any, Any] | None = None,
    ) -> None:
        super().__init__(db, now, memo)
        self.new_id = new_id
        self.new_uuid = new_uuid
        self.rung: set[str] = set()
        self.understood: bytes | None = None  # a second fingerprint of the request: retries
        self.studied: Any = None  # what was found out about the request beforehand: dispatch
        self.keeps_memo = False

    def run(self, sql: str, **values: Any) -> None:
        """Write."""
        self._db.execute(sql, values)

    def changed(self, sql: str, **values: Any) -> int:
        """Write, and say how many rows changed."""
        self._db.execute(sql, values)
        return self._db.changes()

    def ring(self, topic: str) -> None:
        """Wake the readers of `topic`, once this transaction has committed."""
        self.rung.add(topic)
