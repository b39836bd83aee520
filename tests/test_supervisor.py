"""A turn ends with one outcome, soon after its limit, and leaves nothing alive (case C56)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from msgspec import structs

from agentworks.runners import folders, nursery, processes, tree
from tests.programs import (
    HERE,
    PATIENT,
    QUICK,
    Stage,
    descriptors,
    living,
    program,
    run,
    shell,
    until,
)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    nursery.nursery()
    return Stage(tmp_path)


# ── Out of time ──────────────────────────────────────────────────────────────────────────────


def test_a_silent_program_is_ended_soon_after_its_limit(stage: Stage) -> None:
    async def scene() -> None:
        began = asyncio.get_running_loop().time()
        outcome = await stage.perform(shell("echo hi; exec sleep 600"), limits=QUICK)
        assert asyncio.get_running_loop().time() - began < 5
        assert (outcome.state, outcome.partial) == ("timed_out", "hi")
        assert outcome.reason == "no sign of life for 0.5 seconds"

    run(scene())
    assert stage.kinds() == ["Text", "TimedOut", "Failed"]


def test_a_program_that_ignores_sigterm_is_killed(stage: Stage) -> None:
    deaf = shell("trap '' TERM; while :; do sleep 600; done")
    assert run(stage.perform(deaf, limits=QUICK)).state == "timed_out"


def test_signs_of_life_put_the_limit_off_and_the_hard_cap_does_not_move(stage: Stage) -> None:
    busy = shell("while :; do echo . >&2; sleep 0.1; done")
    outcome = run(stage.perform(busy, limits=structs.replace(QUICK, hard_seconds=1.5)))
    assert (outcome.state, outcome.reason) == ("timed_out", "not done after 1.5 seconds")


def test_what_the_turn_does_elsewhere_is_a_sign_of_life(stage: Stage) -> None:
    async def scene() -> str:
        turn, made = stage.turn(limits=QUICK)
        execution = stage.execution("command", shell("sleep 1.2; echo ok"), turn, made, stage.tell)
        running = asyncio.create_task(execution.run())
        while not running.done():
            execution.alive()
            await asyncio.sleep(0.1)
        return (await running).text

    assert run(scene()) == "ok"


def test_children_of_every_kind_die_with_a_turn_that_timed_out(stage: Stage) -> None:
    assert run(stage.perform(program("breeder.sh", "stay"), limits=QUICK)).state == "timed_out"


def test_children_of_every_kind_die_with_a_turn_that_answered_and_are_named(stage: Stage) -> None:
    outcome = run(stage.perform(program("breeder.sh", "leave")))
    assert (outcome.state, outcome.text) == ("answered", "bred")
    assert len([name for name in outcome.leftovers if name.startswith("sleep ")]) == 6


@pytest.mark.parametrize("leaves", ["stay", "leave"])
def test_a_program_that_runs_away_is_caught(stage: Stage, leaves: str) -> None:
    outcome = run(stage.perform(program("hydra.py", leaves), limits=QUICK))
    assert outcome.state == ("timed_out" if leaves == "stay" else "answered")


def test_a_program_that_kills_its_keeper_escapes_no_more(stage: Stage) -> None:
    killer = "(exec setsid env -i /bin/sleep 618 &) ; setsid sleep 619 & kill -9 $PPID; sleep 620"
    outcome = run(stage.perform(shell(killer)))
    assert outcome.state == "failed"
    assert "keeper" in outcome.reason


def test_a_program_that_stops_its_keeper_is_ended_all_the_same(stage: Stage) -> None:
    stopper = shell("kill -STOP $PPID; exec sleep 621")
    assert run(stage.perform(stopper, limits=QUICK)).state == "timed_out"


def test_programs_do_not_hang_on_the_thread_that_started_them(stage: Stage) -> None:
    """bubblewrap's --die-with-parent and PR_SET_PDEATHSIG follow a thread, not a process."""
    nursery.close()
    answers: list[str] = []

    def elsewhere() -> None:
        answers.append(asyncio.run(stage.perform(shell("echo one"))).text)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    first = nursery.nursery().pid
    assert [*answers, run(stage.perform(shell("echo two"))).text] == ["one", "two"]
    assert nursery.nursery().pid == first


def test_a_stopped_nursery_does_not_hold_the_server_up(stage: Stage) -> None:
    os.kill(nursery.nursery().pid, signal.SIGSTOP)
    nursery.close()
    assert run(stage.perform(shell("echo again"))).text == "again"


def test_a_killed_nursery_is_replaced(stage: Stage) -> None:
    async def scene() -> str:
        os.kill(nursery.nursery().pid, signal.SIGKILL)
        await until(lambda: not Path(f"/proc/{nursery.nursery().pid}/cmdline").read_bytes())
        return (await stage.perform(shell("echo again"))).text

    assert run(scene()) == "again"


def test_an_answer_after_the_limit_is_late(stage: Stage) -> None:
    slow = program("late.py", "0.1", "answer")
    outcome = run(stage.perform(slow, limits=structs.replace(QUICK, grace_seconds=10)))
    assert (outcome.state, outcome.text) == ("late", "thinking\nlate answer")
    assert stage.kinds() == ["Text", "TimedOut", "Text", "Final"]


def test_a_late_answer_never_reaches_the_next_turn(stage: Stage) -> None:
    async def scene() -> tuple[str, str]:
        first = await stage.perform(program("late.py", "5", "answer"), limits=QUICK)
        second = await stage.perform(shell("cat; ls $FUNCTION_OUTPUT_DIR"), prompt="mine")
        return first.state, second.text

    assert run(scene()) == ("timed_out", "mine")


def test_many_timed_out_turns_leave_no_process_zombie_or_descriptor(stage: Stage) -> None:
    short = structs.replace(QUICK, idle_seconds=0.05, grace_seconds=0.05)

    async def scene() -> None:
        await stage.perform(shell("true"))
        before = descriptors()
        script = shell("trap '' TERM; setsid sleep 622 & sleep 623 & while :; do sleep 600; done")
        for _ in range(5):
            four = [stage.perform(script, limits=short) for _ in range(4)]
            assert {each.state for each in await asyncio.gather(*four)} == {"timed_out"}
        await until(lambda: living() == {}, 2)
        assert descriptors() == before

    run(scene())


# ── Stopped ──────────────────────────────────────────────────────────────────────────────────


def test_a_stopped_turn_fails_with_its_work(stage: Stage) -> None:
    async def scene() -> None:
        turn, made = stage.turn()
        execution = stage.execution(
            "command", shell("echo half; exec sleep 600"), turn, made, stage.tell
        )
        running = asyncio.create_task(execution.run())
        await until(lambda: bool(stage.told))
        execution.stop("its caller said stop")
        outcome = await running
        assert (outcome.state, outcome.reason) == ("failed", "its caller said stop")
        assert outcome.partial == "half"
        assert not await execution.steer("more")

    run(scene())


def test_a_cancelled_turn_leaves_nothing(stage: Stage) -> None:
    async def scene() -> None:
        limits = structs.replace(PATIENT, grace_seconds=0.1)
        deaf = shell("trap '' TERM; echo on; setsid sleep 624 & while :; do sleep 600; done")
        running = asyncio.create_task(stage.perform(deaf, limits=limits))
        await until(lambda: bool(stage.told))
        running.cancel()
        await asyncio.sleep(0)
        running.cancel()  # a server told twice to stop still ends its programs
        with pytest.raises(asyncio.CancelledError):
            await running

    run(scene())


def test_a_turn_cancelled_while_its_program_starts_leaves_nothing(stage: Stage) -> None:
    async def scene(pauses: int) -> None:
        running = asyncio.create_task(stage.perform(shell("setsid sleep 625 & sleep 626")))
        for _ in range(pauses):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: living() == {})

    for pauses in range(0, 40, 4):
        run(scene(pauses))


SERVER = """
import asyncio, sys
from pathlib import Path
from tests.programs import Stage, shell

async def serve(stage):
    script = shell("trap '' TERM; setsid sleep 630 & (exec setsid env -i sleep 631 &); sleep 632")
    await asyncio.gather(*(stage.perform(script) for _ in range(3)))

asyncio.run(serve(Stage(Path(sys.argv[1]), sys.argv[2])))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
def test_a_server_that_vanishes_takes_its_programs_along(tmp_path: Path, how: int) -> None:
    """The end of the control socket is all a keeper needs; no signal, no thread."""

    async def scene() -> None:
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SERVER, str(tmp_path), "none"), cwd=HERE.parents[1]
        )
        await until(lambda: len(tree.descendants(server.pid)) >= 1 + 3 * 5, 20)
        begun = tree.descendants(server.pid)
        server.send_signal(how)
        await server.wait()
        await until(lambda: not any(map(tree.command_of, begun)))
        assert processes.marked(folders.every_marker(tmp_path)) == set()

    run(scene())


def test_orphans_of_an_earlier_server_are_found_by_their_marker(stage: Stage) -> None:
    async def scene() -> None:
        turn, _ = stage.turn()
        orphan = await asyncio.create_subprocess_exec("sleep", "629", env=turn.env)
        other = await asyncio.create_subprocess_exec("sleep", "2", env={"TMPDIR": "/tmp"})
        ended = await processes.end_marked(folders.every_marker(stage.root))
        assert ended == [f"sleep ({orphan.pid})"]
        assert await orphan.wait() == -signal.SIGKILL
        assert other.returncode is None
        other.kill()
        await other.wait()

    run(scene())
