"""The state machines: the rows of the `*_moves` tables of schema.sql, as tables and drawings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import apsw

from docs.printed.markdown import block, code, paragraphs, table

SCHEMA = Path(__file__).parents[2] / "schema.sql"
_GUARD = re.compile(r"BEFORE UPDATE OF (\w+) ON (\w+)")


class Move(NamedTuple):
    """One row of a `*_moves` table."""

    was: str
    becomes: str
    because: str


def machines() -> str:
    """Every state machine of the schema, in its order."""
    db = apsw.Connection(":memory:")
    db.execute(SCHEMA.read_text("utf-8"))
    tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
    names = [str(name) for (name,) in tables.fetchall()]
    return paragraphs(*(machine(db, name) for name in names if name.endswith("_moves")))


def machine(db: apsw.Connection, name: str) -> str:
    """One machine: what it guards, its moves, and the drawing of them."""
    column, holder = guarded(db, name)
    first = first_state(db, holder, column)
    rows = db.execute(f"SELECT was, becomes, because FROM {name}").fetchall()
    moves = [Move(str(was), str(becomes), str(because)) for was, becomes, because in rows]
    depths = distances(first, moves)
    moves.sort(key=lambda move: (depths[move.was], move.was, depths[move.becomes]))
    return paragraphs(
        f"## {name}",
        f"The column {code(column)} of {code(holder)}. It starts as {code(first)}.",
        table(
            ("Was", "Becomes", "Because"),
            [(code(move.was), code(move.becomes), move.because) for move in moves],
        ),
        block(drawing(first, moves), "mermaid"),
    )


def guarded(db: apsw.Connection, name: str) -> tuple[str, str]:
    """The column and the table whose changes the moves allow, from the trigger that says so."""
    sql = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?"
    ((trigger,),) = db.execute(sql, (f"{name}_only_as_drawn",)).fetchall()
    found = _GUARD.search(str(trigger))
    assert found is not None, f"{name} guards no column"
    return found[1], found[2]


def first_state(db: apsw.Connection, holder: str, column: str) -> str:
    sql = "SELECT dflt_value FROM pragma_table_info(?) WHERE name = ?"
    ((default,),) = db.execute(sql, (holder, column)).fetchall()
    return str(default).strip("'")


def distances(first: str, moves: list[Move]) -> dict[str, int]:
    """How many moves each state is from the first; unreachable ones are as far as can be."""
    found = {first: 0}
    for depth in range(len(moves)):
        reached = {move.becomes for move in moves if found.get(move.was) == depth}
        found |= {state: depth + 1 for state in reached if state not in found}
    states = {state for move in moves for state in (move.was, move.becomes)}
    return dict.fromkeys(states, len(moves)) | found


def drawing(first: str, moves: list[Move]) -> str:
    """Mermaid draws it; the reasons stand in the table."""
    lines = ["stateDiagram-v2", f"    [*] --> {first}"]
    lines += [f"    {move.was} --> {move.becomes}" for move in moves]
    left = {move.was for move in moves}
    ends = dict.fromkeys(move.becomes for move in moves if move.becomes not in left)
    lines += [f"    {state} --> [*]" for state in ends]
    return "\n".join(lines)
