"""What the embedded runtimes make of an agent's program, and of what it prints (case C54)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agentworks.runners import nursery, runtimes
from agentworks.runners.outcomes import Outcome
from agentworks.runners.runtime import (
    Progress,
    Text,
)
from agentworks.runners.runtimes import WrongSettings
from tests.programs import HERE, PATIENT, Stage, program, run, shell, until


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    nursery.nursery()
    stage = Stage(tmp_path)
    for name in ("agent.py", "streamer.py"):
        (stage.agent / name).write_text((HERE / name).read_text("utf-8"))
    return stage


def jsonl(settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**settings, "events": "jsonl", **more}


# ── command ──────────────────────────────────────────────────────────────────────────────────


def test_the_prompt_is_stdin_and_stdout_is_the_answer(stage: Stage) -> None:
    outcome = run(stage.perform({"argv": ["cat"]}, prompt="grüße\nzwei"))
    assert (outcome.state, outcome.text) == ("answered", "grüße\nzwei")


def test_a_program_in_the_agents_folder_is_found_there(stage: Stage) -> None:
    (stage.agent / "answer").write_text("#!/bin/sh\necho here in $(pwd)\n")
    (stage.agent / "answer").chmod(0o700)
    assert run(stage.perform({"argv": ["./answer"]})).text == f"here in {stage.agent}"


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["no-such-program"], "no-such-program: No such file or directory"),
        (["./agent.py"], "agent.py: Permission denied"),
    ],
    ids=["missing", "forbidden"],
)
def test_a_program_that_cannot_start_says_why(stage: Stage, argv: list[str], why: str) -> None:
    outcome = run(stage.perform({"argv": argv}))
    assert outcome.state == "failed"
    assert outcome.reason == why


def test_a_program_that_fails_says_its_code_its_stderr_and_what_it_had(stage: Stage) -> None:
    outcome = run(stage.perform(shell("echo half; echo '\033[31mno disk\033[0m' >&2; exit 3")))
    assert (outcome.state, outcome.partial) == ("failed", "half")
    assert outcome.reason == "it ended with exit code 3: no disk"
    assert "no disk" in outcome.log


def test_a_program_that_a_signal_ends_says_which(stage: Stage) -> None:
    assert run(stage.perform(shell("kill -SEGV $$"))).reason == "it was ended by signal 11"


def test_a_program_that_never_reads_stdin_blocks_nobody(stage: Stage) -> None:
    assert run(stage.perform(shell("echo deaf"), prompt="x" * 5_000_000)).text == "deaf"


def test_a_program_that_closes_stdin_early_is_heard_out(stage: Stage) -> None:
    script = shell("exec 0<&-; sleep 0.2; echo ok")
    assert run(stage.perform(script, prompt="x" * 1_000_000)).text == "ok"


def test_an_answer_over_the_cap_is_drained_and_fails_with_what_was_kept(stage: Stage) -> None:
    outcome = run(stage.perform(program("flood.py", "out", "50")))
    assert outcome.state == "failed"
    assert outcome.reason == "its answer has more than 2,097,152 bytes"
    assert outcome.partial.startswith("xxx")
    assert len(outcome.partial) < 300_000
    assert outcome.log == "done\n"


def test_a_flood_on_stderr_is_drained_in_bounded_memory(stage: Stage) -> None:
    before = _peak_mib()
    outcome = run(stage.perform(program("flood.py", "err", "100")))
    assert (outcome.state, outcome.text) == ("answered", "done")
    assert _peak_mib() - before < 60


def _peak_mib() -> int:
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def test_every_kind_of_line_is_read(stage: Stage) -> None:
    outcome = run(stage.perform(jsonl(program("odd_bytes.py", "all"))))
    assert outcome.text == "ok"
    assert [told.text for told in stage.told if isinstance(told, Progress)] == [
        "crlf",
        "bad \ufffd byte",
        "café",
        "green",
        "last, without newline",
    ]


def test_lines_far_longer_than_a_pipe_are_read_whole(stage: Stage) -> None:
    outcome = run(stage.perform(jsonl(program("odd_bytes.py", "long"))))
    assert outcome.text == "z" * 5_000_000
    assert Text("y" * 70_000) in stage.told


def test_a_line_over_the_cap_fails_with_that_reason(stage: Stage) -> None:
    limits = structs.replace(PATIENT, line_bytes=1_000_000)
    outcome = run(stage.perform(jsonl(program("odd_bytes.py", "toolong")), limits=limits))
    assert outcome.reason == "a line of its output is longer than 1,000,000 bytes"


def test_half_a_line_at_the_end_fails_and_keeps_the_work(stage: Stage) -> None:
    outcome = run(stage.perform(jsonl(program("odd_bytes.py", "cut"))))
    assert (outcome.state, outcome.partial) == ("failed", "the work")
    assert "no final event; it ended with exit code 0" in outcome.reason
    assert "never clo" in outcome.reason


def test_lines_that_are_no_events_are_passed_over(stage: Stage) -> None:
    outcome = run(stage.perform(jsonl(program("odd_bytes.py", "wrong"))))
    assert (outcome.state, outcome.text) == ("answered", "a\ufffdb")
    assert stage.kinds() == ["Final"]


def test_a_program_that_exits_before_its_final_event_failed(stage: Stage) -> None:
    outcome = run(stage.perform(jsonl(shell("exit 0"))))
    assert outcome.reason == "no final event; it ended with exit code 0"


def test_a_program_with_an_open_stdin_is_steered_and_answered(stage: Stage) -> None:
    async def scene() -> Outcome:
        turn, made = stage.turn(prompt="go", session_ref="s1", system="be kind")
        settings = jsonl(program("steered.py"), steer=True)
        acting = stage.execution("command", settings, turn, made, stage.tell)
        running = asyncio.create_task(acting.run())
        await until(lambda: "NeedInput" in stage.kinds())
        assert await acting.steer("hurry")
        assert await acting.answer("q1", True)
        return await running

    outcome = run(scene())
    assert outcome.session_ref == "session-s1"
    assert outcome.result == [
        {"type": "prompt", "prompt": "go", "system": "be kind", "session_ref": "s1"},
        {"type": "steer", "text": "hurry"},
        {"type": "answer", "request_id": "q1", "answer": True},
    ]


def test_a_program_that_did_not_say_so_is_not_steered(stage: Stage) -> None:
    async def scene() -> None:
        turn, made = stage.turn()
        acting = stage.execution("command", shell("echo on; sleep 0.5"), turn, made, stage.tell)
        running = asyncio.create_task(acting.run())
        await until(lambda: bool(stage.told))
        assert not await acting.steer("hurry")
        await running

    run(scene())


# ── settings ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "settings", "wrong"),
    [
        ("telepathy", {}, ["runtime must be one of"]),
        ("command", {}, ["argv is required"]),
        ("command", {"argv": [], "events": "xml", "extra": 1}, ["extra is", "argv:", "events:"]),
        ("command", {"argv": ["a\0"], "steer": True}, ["NUL", "steer needs"]),
        ("command", {"argv": "cat"}, ["argv:"]),
        ("python", {"file": "../x.py", "python": "\0"}, ["dot", "NUL"]),
        ("scripted", {}, ["something to do"]),
        ("scripted", {"file": "missing.toml"}, ["missing.toml"]),
        (
            "scripted",
            {
                "rules": [{"match": "(a+)+b", "steps": [{"say": 1}, {"dance": "x"}]}],
                "otherwise": [{"sleep": True}, {"say": "a", "as": "b"}, {"call": "x", "args": 1}],
            },
            ["(a+)+b", "say must be text", "must have one of", "sleep", "no as", "args of a call"],
        ),
    ],
    ids=["unknown", "empty", "three", "nul", "kind", "python", "idle", "no-file", "rules"],
)
def test_wrong_settings_are_all_named_at_once(
    tmp_path: Path, name: str, settings: dict[str, Any], wrong: list[str]
) -> None:
    with pytest.raises(WrongSettings) as raised:
        runtimes.open_runtime(name, settings, tmp_path)
    problems = raised.value.problems
    assert len(problems) == len(wrong)
    assert all(part in problem for part, problem in zip(wrong, problems, strict=True)), problems
    assert runtimes.problems(name, settings, tmp_path) == problems
    assert not runtimes.probe(name, settings, tmp_path).available


def test_a_runtime_says_whether_it_can_run_here(stage: Stage) -> None:
    def why(name: str, settings: dict[str, Any]) -> tuple[bool, str]:
        found = runtimes.probe(name, settings, stage.agent)
        return found.available, found.why

    assert why("command", {"argv": ["cat"]}) == (True, "cat is there")
    assert why("command", {"argv": ["nope"]})[0] is False
    assert why("command", {"argv": ["./agent.py"]})[0] is True
    assert why("python", {"file": "agent.py"}) == (True, "agent.py is there")
    assert why("python", {"file": "other.py"})[0] is False
    assert why("scripted", {"otherwise": [{"say": "x"}]})[0] is True
