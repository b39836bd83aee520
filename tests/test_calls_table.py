"""The table of wrong and right calls, through each way in: the same problems, the same `try`.

Another way in joins by one more function that takes a row's call and gives the answer as sent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from agentworks.contracts.functions import CALL
from agentworks.server import DATABASE
from agentworks.store import once
from fixtures.calls_table import ROWS, TARGET, Row
from tests.calling import Office
from tests.conftest import ROOT, _let_everyone_in
from tests.live import Live, Wire

EACH = pytest.mark.parametrize("row", ROWS, ids=lambda row: ascii(row.name))

Way = Callable[[dict[str, Any]], dict[str, Any]]


def test_the_table_is_long_and_names_each_row_once() -> None:
    assert len(ROWS) > 130
    assert len({row.name for row in ROWS}) == len(ROWS)


def comes_of(row: Row, way: Way, kept: Callable[[str], Any]) -> None:
    """What the row says, through this way in. `kept` gives the stored arguments of a call."""
    answer = way(row.call)
    if row.kept is not None:
        assert answer["status"] == "working", answer
        given = msgspec.json.decode(kept(answer["call_id"]))
        assert repr(given) == repr(row.kept)  # 1 is not true here, nor 1.0
        return
    assert (answer["status"], answer["code"]) == ("refused", "invalid_input")
    assert answer["problems"] == list(row.problems)
    corrected = {"target": TARGET, "function": row.function, "args": row.corrected}
    assert repr(answer["try"]) == repr(corrected)
    assert tuple(answer.get("placeholders", ())) == row.placeholders
    assert answer["function"]["signature"].startswith(f"{row.function}(")
    assert way(answer["try"])["status"] == "working"


# ── within the server ────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    made = Office(tmp_path_factory.mktemp("table"))
    yield made
    made.close()


@EACH
def test_a_call_by_a_connection(office: Office, row: Row) -> None:
    through(office, "laptop", row)


@EACH
def test_a_call_by_an_agent_in_its_turn(office: Office, row: Row) -> None:
    through(office, office.acts("scout", "crew-scout"), row)


def through(office: Office, name: str, row: Row) -> None:
    office.change("UPDATE calls SET holds_slot = 0")
    comes_of(
        row,
        lambda call: dict(office.call(CALL, name, **call)["answer"]),
        lambda call_id: office.value("SELECT args FROM calls WHERE call_id = ?", call_id),
    )


# ── over HTTP ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server over the story, where each agent may run any number of calls at once."""
    folder = tmp_path_factory.mktemp("table") / "data"
    folder.mkdir(mode=0o700)
    story = (ROOT / "fixtures" / "worlds" / "calls.sql").read_text("utf-8")
    once.transaction(folder / DATABASE, lambda tx: tx.run(story))
    once.transaction(folder / DATABASE, _let_everyone_in)
    with Live(folder, "--set", "CREW_CALLS_RUNNING_MAX=100000") as server:
        yield server


@pytest.fixture(scope="module")
def wire(live: Live) -> Iterator[Wire]:
    with live.wire("token-laptop") as wire:
        yield wire


@EACH
def test_a_call_over_http(live: Live, wire: Wire, row: Row) -> None:
    def way(call: dict[str, Any]) -> dict[str, Any]:
        reply = wire.ask("POST", "/api/calls", call)
        assert reply.status == {"working": 202, "refused": 400}[reply.json["status"]]
        return dict(reply.json)

    comes_of(row, way, lambda call_id: stored(live.folder, call_id))


def stored(folder: Path, call_id: str) -> Any:
    with contextlib.closing(apsw.Connection(str(folder / DATABASE))) as db:
        found = db.execute("SELECT args FROM calls WHERE call_id = ?", (call_id,)).fetchall()
    return found[0][0]
