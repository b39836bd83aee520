"""Kill the server while turns run: each ends as the contract says, and nothing runs twice."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.live import until
from tests.live_turns import SOON_SECONDS, LiveTurns
from tests.turning import function, program, tells

HALF = {"type": "progress", "text": "half way"}
BEGUN = "echo $FUNCTION_CALL_ID >> $CREW_OUTPUT_DIR/begun; "
#: Children of every kind: in its group, in a session of their own, and deaf to SIGTERM.
BREEDS = "sleep 700 & setsid sleep 701 & (trap '' TERM; exec setsid sleep 702) & "


def begun(folder: Path) -> Counter[str]:
    """How often each call has begun."""
    written = folder / "outputs" / "begun"
    return Counter(written.read_text().split() if written.exists() else [])


def long_program() -> dict[str, Any]:
    return program(BEGUN + BREEDS + tells(HALF) + "sleep 600", events="jsonl")


def at_half(call: dict[str, Any]) -> bool:
    return bool(call.get("progress"))


def test_a_killed_server_interrupts_what_ran_and_starts_what_waited(tmp_path: Path) -> None:
    server = LiveTurns(tmp_path / "a")
    worker = server.crew("Worker", long_program(), offers=[function("work")])
    asks = tells({"type": "need_input", "request_id": "q", "question": "Sure?"})
    asker = server.crew("Asker", program(BEGUN + asks + "sleep 600", events="jsonl"))
    lane = program(BEGUN + "[ -e again ] || sleep 600; echo done")
    line = server.crew("Line", lane)
    with server:
        client = server.client()
        calls = [client.call("Worker", "work", submission_id=f"s-{number}") for number in range(3)]
        assert client.call("Worker", "work")["status"] == "busy"
        asked = client.question("Asker", "Go")
        first, second = client.question("Line", "One"), client.question("Line", "Two")
        for each in calls:
            client.until(each["call_id"], at_half)
        waiting = client.until(asked["call_id"], lambda call: bool(call.get("pending_inputs")))
        until(lambda: begun(line)[first["call_id"]] == 1, SOON_SECONDS)
        assert client.get(second["call_id"])["queued_behind"] == 1
        assert server.programs()
        server.kill()
        until(lambda: not server.programs(), SOON_SECONDS)  # its keepers see to that
        (line / "again").touch()

        server.start()
        client = server.client("afterwards")
        assert not server.programs() or begun(line)[second["call_id"]] == 1
        for each in calls:
            call = client.get(each["call_id"])
            assert (call["status"], call["last_progress"]) == ("interrupted", "half way")
        assert client.get(asked["call_id"])["status"] == "interrupted"
        request_id = waiting["pending_inputs"][0]["request_id"]
        assert client.reply(asked["call_id"], request_id, "yes")["code"] == "not_pending"
        assert client.get(first["call_id"])["status"] == "interrupted"
        answered = client.settled(second["call_id"])
        assert (answered["status"], answered["answer"]) == ("answered", "done")

        retry = client.call("Worker", "work", submission_id="s-0")
        assert (retry["call_id"], retry["status"]) == (calls[0]["call_id"], "interrupted")
        fresh = [client.call("Worker", "work") for _ in range(3)]
        assert [each["status"] for each in fresh] == ["working"] * 3  # the slots are free
        for each in fresh:
            client.until(each["call_id"], at_half)
    until(lambda: not server.programs(), SOON_SECONDS)
    assert set(begun(worker).values()) == set(begun(asker).values()) == {1}
    assert begun(line) == Counter([first["call_id"], second["call_id"]])
    assert len(begun(worker)) == 6


def test_what_outlived_its_server_is_ended_before_anything_begins(tmp_path: Path) -> None:
    """A program whose keeper could do nothing: here one that never had any."""
    server = LiveTurns(tmp_path / "a")
    env = {"TMPDIR": str(server.agents / "crew-1" / ".calls" / "call_1" / "tmp")}
    orphan = subprocess.Popen(["/bin/sleep", "700"], env=env)
    other = subprocess.Popen(["/bin/sleep", "20"], env={"TMPDIR": str(tmp_path)})
    with server:
        assert orphan.wait(SOON_SECONDS) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()
        other.wait()
    assert f"ended a program that an earlier server left: sleep ({orphan.pid})" in (
        server.log.read_text("utf-8")
    )


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_or_run_twice_whenever_the_server_dies(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    server = LiveTurns(tmp_path / "a")
    quick = program(BEGUN + "sleep 0.1; echo done")
    crews = [server.crew(f"Worker {n}", quick, offers=[function("work")]) for n in range(4)]
    accepted: list[str] = []
    with server:
        for _ in range(4):
            client = server.client("again")
            ends = time.monotonic() + chance.uniform(0.05, 0.8)
            while time.monotonic() < ends:
                name = f"Worker {chance.randrange(4)}"
                asks = chance.random() < 0.5
                answer = client.question(name, "Go") if asks else client.call(name, "work")
                if answer["status"] == "working":
                    accepted.append(answer["call_id"])
            server.kill()
            server.start()
        client = server.client("afterwards")
        states = Counter(client.settled(call_id)["status"] for call_id in accepted)
        assert set(states) <= {"answered", "completed", "interrupted"}, states
        assert client.call("Worker 0", "work")["status"] == "working"
    ran = sum((begun(folder) for folder in crews), Counter[str]())
    assert set(ran.values()) == {1}
    done = server.value("SELECT count(*) FROM calls WHERE state IN ('answered', 'completed')")
    assert done <= len(ran)
    sql = "SELECT count(*) FROM turns WHERE state IN ('queued', 'running')"
    assert server.value(sql) == 0
    assert server.value("SELECT count(*) FROM calls WHERE holds_slot = 1") == 0
    assert not server.programs()


def test_a_server_that_is_told_to_stop_lets_programs_say_goodbye(tmp_path: Path) -> None:
    polite = "trap 'echo bye > $CREW_OUTPUT_DIR/bye; exit 0' TERM; " + tells(HALF)
    server = LiveTurns(tmp_path / "a")
    script = polite + "while :; do sleep 0.1; done"
    worker = server.crew("Worker", program(script, events="jsonl"), offers=[function("work")])
    with server:
        client = server.client()
        called = client.call("Worker", "work")
        client.until(called["call_id"], at_half)
    assert (worker / "outputs" / "bye").read_text() == "bye\n"
    assert not server.programs()
    sql = "SELECT state FROM calls WHERE call_id = :call_id"
    assert server.value(sql, call_id=called["call_id"]) == "interrupted"
    assert server.value("SELECT count(*) FROM turn_tokens") == 0
