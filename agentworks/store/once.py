"""One transaction without a server: for commands on the server's own machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agentworks import clock
from agentworks.store import file
from agentworks.store.rows import Transaction

Done = TypeVar("Done")


def transaction(
    path: Path,
    work: Callable[[Transaction], Done],
    *,
    now: Callable[[], int] = clock.now,
    new_id: Callable[[str], str] = clock.new_id,
) -> Done:
    """Do `work` on the file, created if absent, also while a server runs on it.

    Raises what `work` raises, having changed nothing; NewerSchema, Full, Held or OSError when the
    file cannot be opened or written. A server notices the commit by itself (Store.ring_all).
    """
    db, reader = file.pair(str(path), "FULL", now())
    try:
        db.execute("BEGIN IMMEDIATE")
        done = work(Transaction(db, now(), new_id))
        db.execute("COMMIT")
        return done
    except Exception as raised:
        named = file.named(raised, db)
        if named is raised:
            raise
        raise named from raised
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        reader.close()
        db.close()
