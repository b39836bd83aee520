"""Two agents and a server between them, all real: nothing is lost, doubled, or slept through."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from agentworks import offline
from tests.live import ROOT, Live, Reply, Wire, request, until

SENDERS = [f"sender{number:02}" for number in range(25)]

# Two of these write at once, each for its share of the names, one message after another.
WRITER = """
import sys
from tests.live import Wire
port, token, *names = sys.argv[1:]
with Wire(int(port), token) as wire:
    for number in range(40):
        for name in names:
            text = f"{name} {number}"
            if number % 4:
                body = {"target": "agent:hub", "agent_name": name, "message": text}
                answer = wire.ask("POST", "/api/messages", body)
            else:
                body = [{"target": "agent:hub", "agent_name": name, "message": text}]
                answer = wire.ask("POST", "/api/messages/batch", {"messages": body})
            assert answer.status == 200 and b'"refused"' not in answer.body, answer
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with Live(tmp_path_factory.mktemp("live") / "data") as server:
        yield server


class Agent:
    """A connection with a name of its own."""

    def __init__(self, live: Live, *names: str) -> None:
        self.live, self.name = live, names[0]
        made = offline.create_connection(live.folder, names[0])
        self.token, self.connection_id = str(made["token"]), str(made["connection_id"])
        self.wire = live.wire(self.token)
        for name in names:
            answer = self.wire.ask("POST", "/api/messages/agents", {"agent_name": name})
            assert answer.status == 200, answer

    def send(self, to: Agent, text: str) -> Reply:
        body = {"target": f"agent:{to.name}", "agent_name": self.name, "message": text}
        return self.wire.ask("POST", "/api/messages", body)

    def path(self, after: int = 0, limit: int = 100, wait_seconds: int = 0) -> str:
        query = f"after={after}&limit={limit}&wait_seconds={wait_seconds}"
        return f"/api/messages?agent_name={self.name}&{query}"

    def page(self, after: int = 0, limit: int = 100, wait_seconds: int = 0) -> Any:
        return self.wire.ask("GET", self.path(after, limit, wait_seconds)).json

    def everything(self, limit: int) -> list[str]:
        """Every message, following the cursor in pages of `limit`."""
        seen, after = [], 0
        while (page := self.page(after, limit))["messages"]:
            assert len(page["messages"]) <= min(limit, 100)
            seen += [each["message"] for each in page["messages"]]
            after = page["next_cursor"]
        return seen

    def waiting(self, count: int = 1, wait_seconds: int = 25) -> list[Wire]:
        """Connections on which this agent waits for its first message."""
        wires = [self.live.wire(self.token) for _ in range(count)]
        for wire in wires:
            wire.send(request("GET", self.path(0, 100, wait_seconds), None, self.token))
        until(lambda: readers(self.wire) >= count)
        return wires


def readers(wire: Wire) -> int:
    return int(wire.ask("GET", "/health").json["waiting_readers"])


def texts(page: Any) -> list[str]:
    return [each["message"] for each in page["messages"]]


# ── nothing is lost or doubled ───────────────────────────────────────────────────────────────


def test_a_reader_that_follows_two_writers_sees_each_of_1000_messages_once(live: Live) -> None:
    hub, crew = Agent(live, "hub"), Agent(live, *SENDERS)
    shares = (SENDERS[:13], SENDERS[13:])
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(live.port), crew.token, *names], cwd=ROOT
        )
        for names in shares
    ]
    seen: list[str] = []
    after = 0
    while len(seen) < 1_000:
        page = hub.page(after, limit=7, wait_seconds=10)
        assert page["messages"], f"nothing more after {len(seen)} messages"
        seen += texts(page)
        after = page["next_cursor"]
    assert [writer.wait(20) for writer in writers] == [0, 0]
    wanted = {f"{name} {number}" for name in SENDERS for number in range(40)}
    assert (set(seen), max(Counter(seen).values())) == (wanted, 1)
    for name in SENDERS:
        own = [text for text in seen if text.startswith(f"{name} ")]
        assert own == [f"{name} {number}" for number in range(40)], "each sender's order is kept"
    for limit in (13, 100, 101):
        assert hub.everything(limit) == seen


def test_a_burst_while_the_reader_was_away_is_read_to_the_end_and_reading_alters_nothing(
    live: Live,
) -> None:
    reader, writers = Agent(live, "away"), [Agent(live, f"busy{number}") for number in range(7)]
    sent = [f"message {number}" for number in range(250)]
    for number, text in enumerate(sent):
        assert writers[number % 7].send(reader, text).status == 200
    first, second, third = (reader.wire.ask("GET", reader.path()).body for _ in range(3))
    assert first == second == third
    sizes, after = [], 0
    while (page := reader.page(after))["messages"]:
        sizes.append(len(page["messages"]))
        after = page["next_cursor"]
    assert (sizes, reader.everything(100)) == ([100, 100, 50], sent)


def test_fifty_identical_sends_at_once_are_one_message_with_one_receipt(live: Live) -> None:
    writer, reader = Agent(live, "hasty"), Agent(live, "calm")
    body = {"target": "agent:calm", "message": "Once", "submission_id": "s-1"}
    wires = [live.wire(writer.token) for _ in range(50)]
    for place, wire in enumerate(wires):
        other = {"message": "Twice"} if place == 49 else {}
        wire.send(request("POST", "/api/messages", body | other, writer.token))
    answers = [wire.answer() for wire in wires]
    bodies = Counter(answer.body for answer in answers if answer.status == 200)
    statuses = Counter(answer.status for answer in answers)
    assert len(bodies) == 1 and statuses in ({200: 49, 409: 1}, {200: 1, 409: 49})
    assert len(reader.page()["messages"]) == 1


# ── nothing is slept through ─────────────────────────────────────────────────────────────────


def test_a_hundred_readers_are_woken_by_one_message_within_a_second(live: Live) -> None:
    reader, writer = Agent(live, "crowd"), Agent(live, "crier")
    wires = reader.waiting(100)
    began = time.monotonic()
    writer.send(reader, "Wake up")
    assert [texts(wire.answer().json) for wire in wires] == [["Wake up"]] * 100
    assert time.monotonic() - began < 2
    assert readers(reader.wire) == 0


def test_a_message_in_the_middle_of_a_short_wait_is_not_swallowed(live: Live) -> None:
    reader, writer = Agent(live, "short"), Agent(live, "prompt")
    threading.Timer(0.5, writer.send, (reader, "In time")).start()
    assert texts(reader.page(wait_seconds=1)) == ["In time"]


def test_two_agents_that_take_turns_never_wait_long(live: Live) -> None:
    ping, pong = Agent(live, "ping"), Agent(live, "pong")

    def answer() -> None:
        after = 0
        for number in range(15):
            page = pong.page(after, wait_seconds=10)
            after = page["next_cursor"]
            pong.send(ping, f"pong {number}")

    other = threading.Thread(target=answer)
    other.start()
    after = 0
    for number in range(15):
        began = time.monotonic()
        ping.send(pong, f"ping {number}")
        page = ping.page(after, wait_seconds=10)
        after = page["next_cursor"]
        assert texts(page) == [f"pong {number}"]
        assert time.monotonic() - began < 3
    other.join()


def test_a_connection_revoked_by_another_process_stops_waiting(live: Live) -> None:
    reader = Agent(live, "fired")
    (wire,) = reader.waiting()
    began = time.monotonic()
    offline.revoke_connection(live.folder, reader.connection_id)
    refused = wire.answer()
    assert (refused.status, refused.json["code"]) == (401, "not_signed_in")
    assert time.monotonic() - began < 3


def test_a_reader_that_hangs_up_is_forgotten(live: Live) -> None:
    reader = Agent(live, "gone")
    for wire in reader.waiting(20):
        wire.close()
    until(lambda: readers(reader.wire) == 0, 5)


# ── the server itself ────────────────────────────────────────────────────────────────────────


def test_a_server_that_is_told_to_stop_answers_its_readers_first_and_comes_back_whole(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with Live(tmp_path_factory.mktemp("stopping") / "data") as live:
        worker, reviewer = Agent(live, "worker"), Agent(live, "reviewer")
        (wire,) = reviewer.waiting()
        began = time.monotonic()
        live.stop()
        assert wire.answer().json["messages"] == []
        assert time.monotonic() - began < 4
        live.start()
        worker.wire, reviewer.wire = live.wire(worker.token), live.wire(reviewer.token)
        receipt = worker.send(reviewer, "Still here?").json
        live.stop()
        live.start()
        page = live.wire(reviewer.token).ask("GET", reviewer.path()).json
        assert [each["message_id"] for each in page["messages"]] == [receipt["message_id"]]


def test_a_second_server_on_the_same_folder_is_refused(live: Live) -> None:
    second = subprocess.run(
        [sys.executable, "-m", "cli", "serve", "--data", live.folder, "--port", "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert second.returncode == 1
    assert f"another server already serves {live.folder}" in second.stderr


def test_a_port_that_is_taken_is_named(live: Live, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("port") / "data"
    second = subprocess.run(
        [sys.executable, "-m", "cli", "serve", "--data", folder, "--port", str(live.port)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert second.returncode == 1
    assert f"cannot listen on 127.0.0.1:{live.port}" in second.stderr
