"""Numbered migrations: `NNNN_what.sql` turns schema N-1 into schema N.

`schema.sql` is the newest schema, whole; a new file gets that. A file with an older schema is
walked up one number at a time, each in its own transaction; `PRAGMA user_version` holds the
number. A file newer than this program is refused.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

VERSION = 2


class NewerSchema(Exception):
    """The file was written by a newer program than this one."""

    def __init__(self, found: int) -> None:
        super().__init__(
            f"this data was written by a newer agentworks (schema {found}; this program knows "
            f"schema {VERSION}). Install that version or a later one; the data was not touched."
        )
        self.found = found


def schema() -> str:
    """The newest schema: packaged beside this module's parent, or at the repository's root."""
    packaged = resources.files("agentworks") / "schema.sql"
    if packaged.is_file():
        return packaged.read_text("utf-8")
    return (Path(__file__).parents[2] / "schema.sql").read_text("utf-8")


def steps() -> dict[int, str]:
    """The SQL that leads to each schema number after the first, by number."""
    found = {}
    for entry in resources.files(__name__).iterdir():
        if entry.name.endswith(".sql"):
            found[int(entry.name.split("_")[0])] = entry.read_text("utf-8")
    return dict(sorted(found.items()))


def refuse_newer(db: apsw.Connection, newest: int = VERSION) -> int:
    """The file's schema number. Raises NewerSchema when it is ahead of this program."""
    found = int(db.pragma("user_version"))
    if found > newest:
        raise NewerSchema(found)
    return found


def migrate(db: apsw.Connection, now: int, walk: dict[int, str] | None = None) -> list[int]:
    """Bring the file to VERSION. Returns the schema numbers it passed through.

    `now` (milliseconds) dates a new store. `walk` replaces the packaged steps in tests.
    Raises NewerSchema, having changed nothing, when the file is ahead of this program.
    """
    walk = steps() if walk is None else walk
    newest = max(walk, default=VERSION)
    found = refuse_newer(db, newest)
    if found == 0:
        _begin(db, now, newest)
        return [newest]
    passed = []
    db.execute("PRAGMA foreign_keys = off")  # a table rebuilt must not take its children along
    try:
        for number in range(found + 1, newest + 1):
            _step(db, walk[number], number)
            passed.append(number)
    finally:
        db.execute("PRAGMA foreign_keys = on")
    return passed


def _begin(db: apsw.Connection, now: int, number: int) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        if int(db.pragma("user_version")) == 0:  # another process may have been first
            db.execute(schema())
            db.execute("INSERT INTO store (one, epoch, created_at) VALUES (1, 1, ?)", (now,))
            db.execute(f"PRAGMA user_version = {number}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _step(db: apsw.Connection, sql: str, number: int) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        if int(db.pragma("user_version")) == number - 1:
            db.execute(sql)
            _refuse_broken_references(db, number)
            db.execute(f"PRAGMA user_version = {number}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _refuse_broken_references(db: apsw.Connection, number: int) -> None:
    tables = sorted({str(row[0]) for row in db.execute("PRAGMA foreign_key_check")})
    if tables:
        raise ValueError(f"step {number} leaves references to nothing in {', '.join(tables)}")
