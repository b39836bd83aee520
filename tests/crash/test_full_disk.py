"""A full disk: everybody is told, nothing is half kept, and with room again all goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.crash.small_disk import SmallDisk
from tests.live import Live, Reply, Wire

LARGE = "x" * 20_000
FULL = {
    "status": "refused",
    "code": "storage_full",
    "problems": ["the server's disk is full; nothing was stored"],
}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with SmallDisk(tmp_path / "disk", megabytes=20) as disk:
        yield disk


@pytest.fixture
def live(disk: SmallDisk, tmp_path: Path) -> Iterator[Live]:
    log = tmp_path / "server.log"
    with Live(disk.path / "data", log=log, inside=disk.inside) as live:
        yield live


def cli(disk: SmallDisk, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*disk.inside, sys.executable, "-m", "cli", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


class Sender:
    """Sends large messages, each into an inbox of its own, and keeps the receipts."""

    def __init__(self, disk: SmallDisk, live: Live) -> None:
        self.folder = str(live.folder)
        made = cli(disk, "connection", "create", "--data", self.folder, "--label", "x", "--json")
        self.token = str(json.loads(made.stdout)["token"])
        self.wire = live.wire(self.token)
        self.kept: list[str] = []
        self.count = 0
        assert self.ask("POST", "/api/messages/agents", {"agent_name": "worker"}).status == 200

    def ask(self, method: str, path: str, body: Any = None) -> Reply:
        answer = self.wire.ask(method, path, body)
        assert answer.status in (200, 507), answer
        if answer.status == 507:
            assert answer.json == FULL
        return answer

    def send(self, text: str = LARGE) -> bool:
        """Whether it was stored."""
        self.count += 1
        submission_id = f"s-{self.count}"
        call = {"target": "agent:worker", "message": text, "submission_id": submission_id}
        answer = self.ask("POST", "/api/messages", call)
        if answer.status == 200:
            self.kept.append(answer.json["message_id"])
        return answer.status == 200

    def send_until_full(self) -> None:
        for text in (LARGE, "small"):
            for _ in range(3_000):
                if not self.send(text):
                    break
            else:
                raise AssertionError("the disk never became full")

    def read(self) -> list[str]:
        return mailbox(self.wire)


def mailbox(wire: Wire) -> list[str]:
    """The ids of everything that lies in the mailbox."""
    found: list[str] = []
    after = 0
    while True:
        path = f"/api/messages?agent_name=worker&after={after}&limit=100"
        page = wire.ask("GET", path).json
        if not page["messages"]:
            return found
        found += [each["message_id"] for each in page["messages"]]
        after = page["next_cursor"]


def test_on_a_full_disk_all_is_refused_plainly_and_with_room_again_all_goes_on(
    disk: SmallDisk, live: Live, tmp_path: Path
) -> None:
    sender = Sender(disk, live)
    for _ in range(20):
        assert sender.send()
    disk.fill()
    sender.send_until_full()
    for number in range(50):
        sender.ask("POST", "/api/messages/agents", {"agent_name": f"name{number}"})
        call = {"target": "agent:worker", "message": LARGE}
        assert sender.ask("POST", "/api/messages/batch", {"messages": [call] * 5}).status == 507
        assert not sender.send()
    assert sender.wire.ask("GET", "/health").json["status"] == "ok"
    assert sender.read() == sender.kept
    page = sender.wire.ask("GET", "/api/messages?agent_name=name0&wait_seconds=1")
    assert page.status in (200, 404)
    folder = ("--data", sender.folder)
    refused = cli(disk, "connection", "create", *folder, "--label", "y", "--json")
    assert (refused.returncode, json.loads(refused.stdout)["code"]) == (3, "storage_full")
    disk.free()
    sender.count -= 1
    assert sender.send(), "the submission_id of a refused message is free"
    assert sender.read() == sender.kept
    live.stop()
    whole(disk, tmp_path, sender.kept)


def whole(disk: SmallDisk, tmp_path: Path, kept: list[str]) -> None:
    """The file is sound and holds exactly these messages."""
    copy = disk.copy("data", tmp_path / "copy")
    with closing(apsw.Connection(str(copy / "agentworks.db"))) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        stored = {row[0] for row in db.execute("SELECT message_id FROM messages")}
        assert stored == set(kept)
        counters = "SELECT sum(kept) FROM conversations"
        assert db.execute(counters).fetchall() == [(len(kept),)]


def test_a_server_that_stops_and_starts_on_a_full_disk_loses_nothing(
    disk: SmallDisk, live: Live, tmp_path: Path
) -> None:
    sender = Sender(disk, live)
    for _ in range(20):
        assert sender.send()
    disk.fill()
    sender.send_until_full()
    live.stop()
    disk.fill()
    if starts(live):
        sender.wire = live.wire(sender.token)
        assert sender.read() == sender.kept
        sender.send_until_full()
        disk.free()
    else:
        disk.free()
        live.start()
        sender.wire = live.wire(sender.token)
    assert sender.send()
    assert sender.read() == sender.kept
    live.stop()
    whole(disk, tmp_path, sender.kept)


def starts(live: Live) -> bool:
    """Whether the server can run at all without room for its log; if not, it says so plainly."""
    try:
        live.start()
    except AssertionError:
        said = live.log.read_text("utf-8")
        assert live.running.returncode == 1
        assert f"cannot open the store in {live.folder}: Full" in said and "Traceback" not in said
        return False
    return True


def test_a_first_start_on_a_full_disk_fails_plainly_and_leaves_nothing_in_the_way(
    disk: SmallDisk, tmp_path: Path
) -> None:
    disk.fill()
    live = Live(disk.path / "data", log=tmp_path / "server.log", inside=disk.inside)
    assert not starts(live)
    disk.free()
    with live:
        assert Sender(disk, live).send()
