"""Migrations: an earlier file becomes a new one, whole or not at all; a newer one is left alone."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from agentworks import migrations
from agentworks.bells import Bells
from agentworks.migrations import NewerSchema, migrate
from agentworks.store import Store, connect

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "fixtures" / "schemas"
NOON = 1_700_000_000_000

PEOPLE = """
CREATE TABLE people (name text PRIMARY KEY) STRICT;
CREATE TABLE pets (name text PRIMARY KEY, keeper text NOT NULL REFERENCES people ON DELETE CASCADE);
INSERT INTO people VALUES ('ada'), ('bob');
INSERT INTO pets VALUES ('rex', 'ada'), ('tom', 'bob');
PRAGMA user_version = 1;
"""
MOTTO = "ALTER TABLE people ADD COLUMN motto text; UPDATE people SET motto = 'none yet';"
TOYS = "CREATE TABLE toys (name text PRIMARY KEY) STRICT; INSERT INTO toys VALUES ('ball');"
REBUILD = """
CREATE TABLE new_people (name text PRIMARY KEY, born integer) STRICT;
INSERT INTO new_people (name) SELECT name FROM people;
DROP TABLE people;
ALTER TABLE new_people RENAME TO people;
"""
FAILING = "CREATE TABLE toys (name text); DELETE FROM people; INSERT INTO nowhere VALUES (1);"
ORPHANING = "DELETE FROM people WHERE name = 'ada';"


def shape(db: apsw.Connection) -> dict[str, str]:
    """Every table, index and trigger, in one spelling whatever the spaces and comments."""
    found = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return {f"{kind} {name}": plain(sql) for kind, name, sql in found}


def plain(sql: str) -> str:
    return re.sub(r"\s*([(),])\s*", r"\1", " ".join(re.sub(r"--[^\n]*", "", sql).split()))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[apsw.Connection]:
    with closing(connect(str(tmp_path / "old.db"))) as db:
        yield db


@pytest.fixture
def people(db: apsw.Connection) -> apsw.Connection:
    """A file of schema 1, with rows that refer to one another."""
    db.execute(PEOPLE)
    return db


def version(db: apsw.Connection) -> int:
    return int(db.pragma("user_version"))


# ── the packaged steps ───────────────────────────────────────────────────────────────────────


def test_a_new_file_has_the_schema_as_it_is_written(db: apsw.Connection) -> None:
    assert migrate(db, NOON) == [migrations.VERSION]
    with closing(apsw.Connection(":memory:")) as written:
        written.execute((ROOT / "schema.sql").read_text("utf-8"))
        assert shape(db) == shape(written)
    assert db.execute("SELECT epoch, created_at FROM store").fetchall() == [(1, NOON)]
    assert version(db) == migrations.VERSION


def test_a_file_that_is_up_to_date_is_left_as_it_is(db: apsw.Connection) -> None:
    migrate(db, NOON)
    assert migrate(db, NOON + 1) == []
    assert db.execute("SELECT epoch, created_at FROM store").fetchall() == [(1, NOON)]


def test_the_steps_are_numbered_without_a_gap_up_to_the_newest() -> None:
    assert list(migrations.steps()) == list(range(2, migrations.VERSION + 1))


def test_every_earlier_schema_is_kept_and_walks_up_to_the_newest(tmp_path: Path) -> None:
    earlier = [SCHEMAS / f"{number:04}.sql" for number in range(1, migrations.VERSION)]
    assert sorted(SCHEMAS.glob("*.sql")) == earlier, "before a step, save the schema it starts from"
    with closing(connect(str(tmp_path / "new.db"))) as new:
        migrate(new, NOON)
        newest = shape(new)
    for number, path in enumerate(earlier, 1):
        with closing(connect(str(tmp_path / f"{number}.db"))) as old:
            old.execute(path.read_text("utf-8"))
            old.pragma("user_version", number)
            assert migrate(old, NOON) == list(range(number + 1, migrations.VERSION + 1))
            assert shape(old) == newest


# ── walking ──────────────────────────────────────────────────────────────────────────────────


def test_an_old_file_passes_through_every_step_once(people: apsw.Connection) -> None:
    walk = {2: MOTTO, 3: TOYS}
    assert migrate(people, NOON, walk) == [2, 3]
    assert version(people) == 3
    assert people.execute("SELECT * FROM people").fetchall() == [
        ("ada", "none yet"),
        ("bob", "none yet"),
    ]
    assert people.execute("SELECT * FROM toys").fetchall() == [("ball",)]
    assert migrate(people, NOON, walk) == []


def test_a_file_in_the_middle_walks_only_the_rest(people: apsw.Connection) -> None:
    migrate(people, NOON, {2: MOTTO})
    assert migrate(people, NOON, {2: "not SQL at all", 3: TOYS}) == [3]


def test_a_step_that_fails_leaves_the_file_as_the_step_before_made_it(
    people: apsw.Connection,
) -> None:
    with pytest.raises(apsw.SQLError, match="nowhere"):
        migrate(people, NOON, {2: MOTTO, 3: FAILING})
    assert version(people) == 2
    assert set(shape(people)) == {"table people", "table pets"}
    assert people.execute("SELECT name FROM people").fetchall() == [("ada",), ("bob",)]
    assert not people.in_transaction
    assert migrate(people, NOON, {2: MOTTO, 3: TOYS}) == [3]


def test_a_table_that_is_rebuilt_keeps_the_rows_that_refer_to_it(people: apsw.Connection) -> None:
    assert migrate(people, NOON, {2: REBUILD}) == [2]
    assert people.execute("SELECT * FROM pets").fetchall() == [("rex", "ada"), ("tom", "bob")]
    people.execute("DELETE FROM people WHERE name = 'ada'")
    assert people.execute("SELECT * FROM pets").fetchall() == [("tom", "bob")]


def test_a_step_that_leaves_a_reference_to_nothing_is_undone(people: apsw.Connection) -> None:
    with pytest.raises(ValueError, match="step 2 leaves references to nothing in pets"):
        migrate(people, NOON, {2: ORPHANING})
    assert version(people) == 1
    assert people.execute("SELECT name FROM people").fetchall() == [("ada",), ("bob",)]
    assert people.pragma("foreign_keys") == 1


def test_two_that_walk_the_same_file_walk_it_once(tmp_path: Path) -> None:
    path = str(tmp_path / "old.db")
    with closing(connect(path)) as first:
        first.execute(PEOPLE)
    faults: list[BaseException] = []

    def walk() -> None:
        try:
            with closing(connect(path)) as db:
                migrate(db, NOON, {2: MOTTO, 3: TOYS})
        except BaseException as fault:
            faults.append(fault)

    walkers = [threading.Thread(target=walk) for _ in range(4)]
    for each in walkers:
        each.start()
    for each in walkers:
        each.join()
    with closing(connect(path)) as after:
        assert (faults, version(after)) == ([], 3)
        assert after.execute("SELECT count(*) FROM toys").fetchall() == [(1,)]


# ── a newer file ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_newer_file_is_refused_in_a_clear_sentence_and_not_touched(
    tmp_path: Path, journal: str
) -> None:
    path = tmp_path / "agentworks.db"
    Store(path, Bells().ring).close()
    with closing(apsw.Connection(str(path))) as newer:
        newer.pragma("journal_mode", journal)
        newer.pragma("user_version", 99)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(NewerSchema) as refused:
        Store(path, Bells().ring)
    assert str(refused.value) == (
        "this data was written by a newer agentworks (schema 99; this program knows schema "
        f"{migrations.VERSION}). Install that version or a later one; the data was not touched."
    )
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_a_newer_file_left_by_a_crash_keeps_what_is_only_in_its_log(tmp_path: Path) -> None:
    path, log = tmp_path / "agentworks.db", tmp_path / "agentworks.db-wal"
    Store(path, Bells().ring).close()
    newer = connect(str(path))
    newer.pragma("user_version", 99)
    copied = tmp_path / "copy" / "agentworks.db"
    copied.parent.mkdir()
    copied.write_bytes(path.read_bytes())
    copied.with_name("agentworks.db-wal").write_bytes(log.read_bytes())
    newer.close()
    before = [each.read_bytes() for each in sorted(copied.parent.iterdir())]
    with pytest.raises(NewerSchema):
        Store(copied, Bells().ring)
    after = [copied.read_bytes(), copied.with_name("agentworks.db-wal").read_bytes()]
    assert after == before


# ── a new file, by several at once ───────────────────────────────────────────────────────────

OPEN_ALL = """
import sys
from agentworks.store import Store
for path in sys.argv[1:]:
    Store(path, print).close()
"""


def test_several_processes_that_make_the_same_new_file_make_one(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}.db") for number in range(10)]
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_ALL, *paths], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    said = [maker.communicate(timeout=30)[1] for maker in makers]
    assert ([maker.returncode for maker in makers], said) == ([0] * 3, [""] * 3)
    for path in paths:
        with closing(apsw.Connection(path)) as db:
            assert db.execute("SELECT count(*) FROM store").fetchall() == [(1,)]
            assert version(db) == migrations.VERSION
