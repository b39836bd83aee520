"""The file itself: how it is opened, how its log is kept short, and what its faults mean."""

from __future__ import annotations

import errno
import os
import time

import apsw

from agentworks import migrations

WAL_BYTES_MAX = 64 * 1024 * 1024  # bytes the write-ahead log may keep once nobody reads in it
READ_ONLY = apsw.SQLITE_OPEN_READONLY
_STATEMENTS_CACHED = 400
_BUSY_MILLISECONDS = 5_000  # how long another process may hold the file before we say so
_RETRY_MILLISECONDS = 10


class Full(Exception):
    """The disk is full: nothing of the operation was kept."""


class Held(Exception):
    """Another process holds the file, or too many operations are waiting."""


def connect(path: str, synchronous: str = "FULL", flags: int | None = None) -> apsw.Connection:
    """Open the file as every part of the server does (facts/stack §2: the settings measured)."""
    if flags is None:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    db = apsw.Connection(path, flags=flags, statementcachesize=_STATEMENTS_CACHED)
    if flags != READ_ONLY:
        _keep_a_log(db)
    db.set_busy_timeout(_BUSY_MILLISECONDS)
    db.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    db.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    db.execute("PRAGMA cache_size = -32768")
    if flags != READ_ONLY:
        db.execute(f"PRAGMA synchronous = {synchronous}")
        db.execute("PRAGMA wal_autocheckpoint = 10000")
        db.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_MAX}")
        db.execute("PRAGMA foreign_keys = on")
    return db


def _keep_a_log(db: apsw.Connection) -> None:
    """Change to a write-ahead log. SQLite does not wait when two processes do so at once."""
    for _ in range(_BUSY_MILLISECONDS // _RETRY_MILLISECONDS):
        try:
            db.execute("PRAGMA journal_mode = wal")
            return
        except apsw.BusyError:
            time.sleep(_RETRY_MILLISECONDS / 1_000)
    raise Held


def pair(path: str, synchronous: str, now: int) -> tuple[apsw.Connection, apsw.Connection]:
    """A connection that writes, its schema brought to the newest, and one that only reads.

    `now` (milliseconds) dates a new store. Raises NewerSchema, having changed nothing; Full or
    Held; OSError when the file is no store or cannot be opened.
    """
    try:
        _refuse_newer(path)
        db = connect(path, synchronous)
        try:
            migrations.migrate(db, now)
            return db, connect(path, flags=READ_ONLY)
        except BaseException:
            db.close()
            raise
    except apsw.Error as raised:
        reason = named(raised)
        if isinstance(reason, Full | Held):
            raise reason from raised
        raise OSError(errno.EIO, str(raised), path) from raised


def _refuse_newer(path: str) -> None:
    """Before anything may write: opening a file in another journal mode would change it."""
    if not os.path.exists(path):
        return
    db = apsw.Connection(path, flags=READ_ONLY)
    try:
        db.set_busy_timeout(_BUSY_MILLISECONDS)
        migrations.refuse_newer(db)
    except apsw.ReadOnlyError:
        pass  # a crash left it to be recovered first, which only a writer can do
    finally:
        db.close()


def shorten_log(db: apsw.Connection, path: str) -> None:
    """Give back the log's space when a reader of another process has let it grow.

    Waits for nobody: while that reader stays, the log stays, and the next call tries again.
    """
    try:
        if os.stat(f"{path}-wal").st_size <= WAL_BYTES_MAX:
            return
        db.set_busy_timeout(0)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (apsw.Error, OSError):
        return
    finally:
        db.set_busy_timeout(_BUSY_MILLISECONDS)


def named(raised: BaseException, db: apsw.Connection | None = None) -> Exception:
    """What a caller is told for what was raised on `db`: Full, Held, or that it is a fault."""
    if isinstance(raised, apsw.FullError):
        return Full()
    if isinstance(raised, apsw.BusyError | apsw.LockedError):
        return Held()
    if isinstance(raised, apsw.IOError) and _no_room(raised, db):
        return Full()
    if isinstance(raised, Exception) and not isinstance(raised, StopIteration):
        return raised
    fault = RuntimeError(f"an operation raised {type(raised).__name__}")  # a future takes no other
    fault.__cause__ = raised
    return fault


def _no_room(raised: apsw.IOError, db: apsw.Connection | None) -> bool:
    """SQLite says FULL only for the file and its log: not for the log's index, nor for a quota."""
    no_index = getattr(raised, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE
    return no_index or (db is not None and db.system_errno in (errno.ENOSPC, errno.EDQUOT))
