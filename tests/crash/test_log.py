"""The write-ahead log stays short under load, however many wait, and after an outside reader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from agentworks import offline
from agentworks.store.file import WAL_BYTES_MAX
from tests.live import Live, Wire, request, until

BATCH = {"messages": [{"target": "agent:worker", "message": "x" * 20_000}] * 50}
BATCHES = 90  # some 90 MB of messages
WAITING = 100


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with Live(tmp_path / "data") as live:
        yield live


def load(wire: Wire) -> int:
    """Send it all; returns the most bytes the log had meanwhile."""
    highest = 0
    for number in range(BATCHES):
        answer = wire.ask("POST", "/api/messages/batch", BATCH)
        assert answer.status == 200 and b'"refused"' not in answer.body
        if number % 5 == 0:
            highest = max(highest, log_bytes(wire))
    return highest


def health(wire: Wire) -> Any:
    return wire.ask("GET", "/health").json


def log_bytes(wire: Wire) -> int:
    return int(health(wire)["wal_bytes"])


def test_the_log_stays_short_while_readers_wait_and_shrinks_after_one_that_did_not(
    live: Live,
) -> None:
    token = live.connection("sender")
    wire = live.wire(token)
    for name in ("worker", "quiet"):
        assert wire.ask("POST", "/api/messages/agents", {"agent_name": name}).status == 200
    path = "/api/messages?agent_name=quiet&wait_seconds=25"
    for _ in range(WAITING):
        live.wire(token).send(request("GET", path, None, token))
    until(lambda: health(wire)["waiting_readers"] == WAITING)
    assert load(wire) < WAL_BYTES_MAX
    assert health(wire)["waiting_readers"] == WAITING, "they waited through all of it"
    with closing(apsw.Connection(str(live.folder / offline.DATABASE))) as outside:
        outside.execute("BEGIN")
        outside.execute("SELECT count(*) FROM messages").fetchall()
        assert load(wire) > WAL_BYTES_MAX, "an outside reader keeps the log as it is"
        outside.execute("COMMIT")
    until(lambda: log_bytes(wire) <= WAL_BYTES_MAX, seconds=10)
    assert wire.ask("POST", "/api/messages/batch", BATCH).status == 200
