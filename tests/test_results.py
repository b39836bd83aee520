"""The result contract ([S0], case C60): file, correction turn, final answer, failure."""

from __future__ import annotations

import asyncio
import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from agentworks.rules import limits
from agentworks.rules import results as rules
from agentworks.runners import folders
from agentworks.runners.folders import Folders
from agentworks.runners.outcomes import Outcome, State
from agentworks.runners.results import fulfil, last_fenced
from agentworks.runners.runtime import Turn, Usage

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
    "required": ["n"],
    "additionalProperties": False,
}
CHECK = functools.partial(rules.result_problems, SCHEMA)
Act = Callable[[Folders], None]


class Agent:
    """An agent whose turns are given: what each writes, and what it answers."""

    def __init__(self, root: Path, *turns: tuple[Act | str | bytes | None, str | Outcome]) -> None:
        self.made = folders.prepare(root, "crew", "call_1")
        self.turns = list(turns)
        self.prompts: list[str] = []
        self.sessions: list[str] = []

    async def perform(self, turn: Turn) -> Outcome:
        self.prompts.append(turn.prompt)
        self.sessions.append(turn.session_ref)
        written, answer = self.turns[len(self.prompts) - 1]
        if callable(written):
            written(self.made)
        elif written is not None:
            raw = written.encode() if isinstance(written, str) else written
            self.made.result_file.write_bytes(raw)
        if isinstance(answer, Outcome):
            return answer
        return Outcome(state="answered", text=answer, session_ref="s2", usage=Usage(1, 2))

    def fulfil(self, check: Any = CHECK, **more: Any) -> Outcome:
        turn = Turn(turn_id="t", prompt="do it", cwd=self.made.agent, result_schema=SCHEMA)
        return asyncio.run(fulfil(self.perform, turn, self.made, check, **more))


def test_a_result_that_fits_completes_the_call(tmp_path: Path) -> None:
    agent = Agent(tmp_path, (' {"n": 1}\n', "done"))
    outcome = agent.fulfil()
    assert (outcome.state, outcome.result, outcome.text) == ("completed", {"n": 1}, "done")
    assert [each.file for each in outcome.files] == ["result.json"]
    assert len(agent.prompts) == 1


def test_without_a_schema_the_answer_and_the_files_are_the_result(tmp_path: Path) -> None:
    agent = Agent(tmp_path, (lambda made: (made.out / "a.txt").touch(), "done"))
    outcome = agent.fulfil(None)
    assert (outcome.state, outcome.text, outcome.result) == ("answered", "done", UNSET)
    assert [each.file for each in outcome.files] == ["a.txt"]


def a_folder(made: Folders) -> None:
    made.result_file.mkdir()


def a_link(made: Folders) -> None:
    (made.work / "real.json").write_text('{"n": 1}')
    made.result_file.symlink_to(made.work / "real.json")


def a_pipe(made: Folders) -> None:
    os.mkfifo(made.result_file)


def too_large(made: Folders) -> None:
    with made.result_file.open("wb") as file:
        file.truncate(17 << 20)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (None, "was not written"),
        ("", "not JSON: empty"),
        ('```json\n{"n": 1}\n```', "code fence"),
        ('{"n": 1}\nThat is all!', "text after the value"),
        ('{"n": 1}{"n": 2}', "text after the value"),
        ('{"n": 1}'.encode("utf-16"), "UTF-16"),
        (b'\xef\xbb\xbf{"n": 1}', "byte order mark"),
        (b'{"s": "\x97"}', "not valid UTF-8"),
        ('{"n": 1, "n": 2}', "appears twice"),
        ('{"n": 1, "s": "a\\u0000b"}', "NUL"),
        ("[" * 100 + "]" * 100, "nested deeper"),
        ('{"n": "1"}', "n: must be an integer"),
        (a_folder, "is not a regular file"),
        (a_link, "is not a regular file"),
        (a_pipe, "is not a regular file"),
        (too_large, "has 17,825,792 bytes, more than 16,777,216"),
    ],
    ids=[
        *("missing", "empty", "fenced", "prose", "two", "utf16", "bom", "bytes", "twice", "nul"),
        *("deep", "schema", "folder", "link", "pipe", "large"),
    ],
)
def test_a_result_that_does_not_do_gets_one_correction_turn(
    tmp_path: Path, written: Act | str | bytes | None, problem: str
) -> None:
    def corrected(made: Folders) -> None:
        if made.result_file.is_dir():
            made.result_file.rmdir()
        made.result_file.unlink(missing_ok=True)
        made.result_file.write_text('{"n": 2}')

    agent = Agent(tmp_path, (written, "here you are"), (corrected, "now"))
    outcome = agent.fulfil()
    assert (outcome.state, outcome.result, outcome.text) == ("completed", {"n": 2}, "now")
    assert problem in agent.prompts[1]
    assert str(agent.made.result_file) in agent.prompts[1]
    assert '"additionalProperties":false' in agent.prompts[1]
    assert agent.sessions == ["", "s2"]
    assert outcome.usage == Usage(2, 4)


def test_a_correction_names_every_problem(tmp_path: Path) -> None:
    agent = Agent(tmp_path, ('{"n": "x", "s": 1, "extra": 0}', ""), ('{"n": 1}', ""))
    agent.fulfil()
    lines = [line for line in agent.prompts[1].splitlines() if line.startswith("- ")]
    assert len(lines) == 3
    assert all(any(name in line for line in lines) for name in ("n:", "s:", "extra"))


def test_there_is_no_second_correction_and_the_first_answer_is_kept(tmp_path: Path) -> None:
    agent = Agent(tmp_path, ("{}", "A good plain review."), ('{"n": "?"}', "I give up."))
    outcome = agent.fulfil()
    assert len(agent.prompts) == 2
    assert (outcome.state, outcome.partial) == ("failed", "A good plain review.")
    assert outcome.reason.startswith("no result that fits: result.n: must be an integer")
    assert outcome.result is UNSET


@pytest.mark.parametrize(
    "answer",
    [
        '{"n": 3}',
        'Sure!\n```json\n{"n": 3}\n```\nDone.',
        'First\n```\n{"n": 9}\n```\nbetter\n~~~~\n{"n": 3}\n~~~~',
    ],
    ids=["bare", "fenced", "last-fence"],
)
def test_a_final_answer_that_fits_stands_in_for_a_bad_file(tmp_path: Path, answer: str) -> None:
    agent = Agent(tmp_path, ("{}", "thinking"), (None, answer))
    assert agent.fulfil().result == {"n": 3}
    early = Agent(tmp_path / "early", ("{}", answer), (None, "sorry"))
    outcome = early.fulfil()
    assert (outcome.state, outcome.result) == ("completed", {"n": 3})
    assert len(early.prompts) == 2  # the correction comes first


def test_a_good_file_wins_over_what_is_said(tmp_path: Path) -> None:
    assert Agent(tmp_path, ('{"n": 1}', '{"n": 2}')).fulfil().result == {"n": 1}


def test_a_runtimes_own_structured_result_needs_no_file(tmp_path: Path) -> None:
    given = Outcome(state="answered", text="x", result={"n": 5})
    assert Agent(tmp_path, (None, given)).fulfil().result == {"n": 5}
    bad = Outcome(state="answered", text="x", result={"n": "5"})
    agent = Agent(tmp_path / "2", (None, bad), ('{"n": 6}', ""))
    assert agent.fulfil().result == {"n": 6}
    assert "was not written" in agent.prompts[1]
    assert "n: must be an integer" in agent.prompts[1]


def test_a_runtime_that_cannot_correct_is_not_run_again(tmp_path: Path) -> None:
    agent = Agent(tmp_path, ("{}", "text"))
    assert agent.fulfil(corrects=False).state == "failed"
    assert len(agent.prompts) == 1


def test_what_another_call_left_is_no_result(tmp_path: Path) -> None:
    other = folders.prepare(tmp_path, "crew", "call_0")
    other.result_file.write_text('{"n": 1}')
    agent = Agent(tmp_path, (None, "none"), (None, "none"))
    assert agent.fulfil().state == "failed"


@pytest.mark.parametrize("size", [262_144, 262_145], ids=["inline", "file"])
def test_a_result_is_inline_up_to_256_kib_and_a_file_above(tmp_path: Path, size: int) -> None:
    text = '{"n": 1, "s": "' + "x" * (size - 17) + '"}'
    assert len(text) == size
    outcome = Agent(tmp_path, (text, "")).fulfil()
    if size > limits.RESULT_INLINE_BYTES_MAX:
        assert (outcome.result, outcome.result_file) == (UNSET, "result.json")
    else:
        assert outcome.result == json.loads(text)


def test_a_large_result_that_was_said_becomes_a_file(tmp_path: Path) -> None:
    text = '{"n": 1, "s": "' + "x" * 300_000 + '"}'
    agent = Agent(tmp_path, (None, text), (None, ""))
    outcome = agent.fulfil()
    assert outcome.result_file == "result.json"
    assert agent.made.result_file.read_text() == text


def test_a_large_answer_becomes_a_file_and_overwrites_none(tmp_path: Path) -> None:
    answer = "é" * 200_000
    agent = Agent(tmp_path, (lambda made: (made.out / "answer.txt").touch(), answer))
    outcome = agent.fulfil(None)
    assert outcome.text_file == "answer-2.txt"
    assert (agent.made.out / "answer-2.txt").read_text() == answer
    assert answer.startswith(outcome.text)
    assert len(outcome.text.encode()) == limits.RESULT_INLINE_BYTES_MAX


@pytest.mark.parametrize("size", [16 << 20, (16 << 20) + 1], ids=["at", "above"])
def test_result_json_is_checked_up_to_16_mib(tmp_path: Path, size: int) -> None:
    raw = b'{"n": 1}' + b" " * (size - 8)
    outcome = Agent(tmp_path, (raw, ""), (None, "")).fulfil()
    assert outcome.state == ("completed" if size == 16 << 20 else "failed")


def test_a_check_that_takes_too_long_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RESULT_CHECK_SECONDS", 0.05)

    def slow(raw: bytes) -> tuple[Any, list[str]]:
        import time

        time.sleep(0.3)
        return {}, []

    outcome = Agent(tmp_path, ("{}", ""), ("{}", "")).fulfil(slow)
    assert (outcome.state, "took more than" in outcome.reason) == ("failed", True)


@pytest.mark.parametrize(
    ("state", "becomes"),
    [("timed_out", "late"), ("late", "late"), ("failed", "failed")],
)
def test_a_result_after_the_time_was_up_is_late_and_a_failure_stays_one(
    tmp_path: Path, state: State, becomes: State
) -> None:
    agent = Agent(tmp_path, ('{"n": 1}', Outcome(state=state, reason="why", partial="half")))
    outcome = agent.fulfil()
    assert outcome.state == becomes
    assert outcome.result == ({"n": 1} if becomes == "late" else UNSET)
    assert len(agent.prompts) == 1


def test_what_never_came_stays_timed_out_and_a_late_answer_without_a_result_failed(
    tmp_path: Path,
) -> None:
    silent = Outcome(state="timed_out", reason="silence", partial="half")
    assert Agent(tmp_path, (None, silent)).fulfil() == silent
    late = Agent(tmp_path / "2", (None, Outcome(state="late", text="no JSON")))
    outcome = late.fulfil()
    assert (outcome.state, outcome.partial, len(late.prompts)) == ("failed", "no JSON", 1)


def test_a_correction_turn_that_breaks_falls_back_to_the_first_answer(tmp_path: Path) -> None:
    broken = Outcome(state="failed", reason="it crashed")
    agent = Agent(tmp_path, (None, '```\n{"n": 4}\n```'), ('{"n": 8}', broken))
    assert agent.fulfil().result == {"n": 4}
    worse = Agent(tmp_path / "2", (None, "plain"), (None, broken))
    outcome = worse.fulfil()
    assert (outcome.state, outcome.reason, outcome.partial) == ("failed", "it crashed", "plain")


def test_a_fence_is_found_in_time_linear_in_the_answer() -> None:
    assert last_fenced("```a\n" * 300_000) == ""
    assert last_fenced("````\n```\n{}\n```\n````\nrest") == "```\n{}\n```\n"
    assert last_fenced("no fence") == ""
