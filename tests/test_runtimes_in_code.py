"""Agents written as a Python file or as rules, and how they reach the platform."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from msgspec import UNSET

from agentworks.runners import nursery
from agentworks.runners.outcomes import Outcome
from agentworks.runners.runtime import (
    Failed,
    NeedInput,
    Progress,
    ToolCall,
    ToolResult,
    Usage,
)
from agentworks.runners.runtimes import python as python_runtime
from tests.programs import HERE, Stage, run, until


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    nursery.nursery()
    stage = Stage(tmp_path)
    for name in ("agent.py", "streamer.py"):
        (stage.agent / name).write_text((HERE / name).read_text("utf-8"))
    return stage


# ── python ───────────────────────────────────────────────────────────────────────────────────


def test_a_python_agent_replies_with_progress_and_usage(stage: Stage) -> None:
    outcome = run(stage.perform({"file": "agent.py"}, prompt="echo hello you", runtime="python"))
    assert (outcome.state, outcome.text) == ("answered", "hello you")
    assert stage.told[0] == Progress("echoing")
    assert outcome.usage == Usage(input_tokens=3, cost_usd=0.5)
    assert outcome.log == "a print is no event\n"


def test_a_python_agent_may_yield(stage: Stage) -> None:
    outcome = run(stage.perform({"file": "streamer.py"}, runtime="python"))
    assert stage.told[:2] == [Progress("first"), Progress("second")]
    assert (outcome.text, outcome.result) == ('{"n": 2}', {"n": 2})


def test_a_python_agent_asks_and_is_answered(stage: Stage) -> None:
    async def scene() -> Outcome:
        turn, made = stage.turn(prompt="ask Really?")
        acting = stage.execution("python", {"file": "agent.py"}, turn, made, stage.tell)
        running = asyncio.create_task(acting.run())
        await until(lambda: bool(stage.told))
        assert stage.told == [NeedInput("question_1", "Really?", schema={"type": "boolean"})]
        assert await acting.answer("question_1", True)
        return await running

    assert run(scene()).result == {"answer": True}


def test_a_python_agent_hears_steers_when_it_says_so(stage: Stage) -> None:
    async def scene() -> Outcome:
        turn, made = stage.turn(prompt="steer")
        settings = {"file": "agent.py", "steer": True}
        acting = stage.execution("python", settings, turn, made, stage.tell)
        running = asyncio.create_task(acting.run())
        while not await acting.steer("left"):
            await asyncio.sleep(0.01)
        return await running

    assert run(scene()).text == "heard left"


def test_a_python_agent_sees_its_variables_and_nothing_else(stage: Stage) -> None:
    told = run(
        stage.perform(
            {"file": "agent.py"},
            prompt="describe",
            runtime="python",
            variables={"GROUP": "staging"},
            secrets={"PROVIDER_KEY": "k"},
        )
    ).result
    assert told[:2] == ["call_1", {"GROUP": "staging"}]
    assert told[3] == sorted(
        [
            *("AGENTWORKS_SERVER", "AGENTWORKS_TOKEN", "CREW_OUTPUT_DIR", "CREW_RUN_DIR"),
            *("FUNCTION_CALL_ID", "FUNCTION_OUTPUT_DIR", "FUNCTION_RESULT_FILE", "HOME", "LANG"),
            *("PATH", "PROVIDER_KEY", "TMPDIR", "VAR_GROUP"),
        ]
    )


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [("exit", "SystemExit: 3"), ("boom", "RuntimeError: no such word")],
    ids=["exits", "raises"],
)
def test_a_python_agent_that_breaks_failed_with_its_traceback(
    stage: Stage, prompt: str, reason: str
) -> None:
    outcome = run(stage.perform({"file": "agent.py"}, prompt=prompt, runtime="python"))
    assert (outcome.state, outcome.reason) == ("failed", reason)
    assert "Traceback" in outcome.log


def test_a_python_agents_half_characters_fail_the_turn_alone(stage: Stage) -> None:
    outcome = run(stage.perform({"file": "agent.py"}, prompt="surrogate", runtime="python"))
    assert outcome.state == "failed"


# ── the platform, over HTTP ──────────────────────────────────────────────────────────────────


class Platform(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        said = {
            "status": "echo",
            "method": self.command,
            "path": self.path,
            "token": self.headers["Authorization"],
            "body": json.loads(self.rfile.read(length)) if length else None,
        }
        raw = json.dumps(said).encode()
        self.send_response(409)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = answer

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server_url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(python_runtime.routes(), "agents.echo", "POST /api/agents/{agent_id}/echo")
    monkeypatch.setitem(python_runtime.routes(), "agents.look", "GET /api/agents")
    with ThreadingHTTPServer(("127.0.0.1", 0), Platform) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_python_agent_calls_the_platform_with_its_turn_token(
    stage: Stage, server_url: str
) -> None:
    outcome = run(
        stage.perform(
            {"file": "agent.py"},
            prompt="call hi",
            runtime="python",
            server_url=server_url,
            token="t1",
        )
    )
    assert outcome.result == {
        "status": "echo",
        "method": "POST",
        "path": "/api/agents/a%20b/echo",
        "token": "Bearer t1",
        "body": {"deep": [1], "text": "hi"},
    }


def test_a_scripted_agent_calls_the_platform_with_its_turn_token(
    stage: Stage, server_url: str
) -> None:
    steps = [
        {"call": "agents.look", "args": {"query": "{{1}}", "limit": 3}, "as": "seen"},
        {"say": "{{seen.path}} {{seen.missing.deep}}"},
        {"result": {"all": "{{seen}}", "text": "is {{seen.status}}"}},
    ]
    rules = {"rules": [{"match": "look for ([a-z]+)", "steps": steps}]}
    outcome = run(
        stage.perform(rules, prompt="look for it", runtime="scripted", server_url=server_url)
    )
    assert outcome.text == "/api/agents?query=it&limit=3 "
    assert outcome.result["text"] == "is echo"
    assert outcome.result["all"]["token"] == "Bearer turn-token"
    assert isinstance(stage.told[0], ToolCall)
    assert isinstance(stage.told[1], ToolResult)


def test_a_scripted_agent_whose_call_finds_nobody_failed(stage: Stage) -> None:
    for operation in ("agents.look", "no.such"):
        steps = [{"say": "one"}, {"call": operation}]
        outcome = run(
            stage.perform({"otherwise": steps}, runtime="scripted", server_url="http://127.0.0.1:9")
        )
        assert (outcome.state, outcome.partial) == ("failed", "one")
        assert outcome.reason.startswith(f"call {operation}: ")


# ── scripted ─────────────────────────────────────────────────────────────────────────────────


def test_a_scripted_agent_follows_its_first_matching_rule(stage: Stage) -> None:
    rules = {
        "rules": [
            {"match": "^never$", "steps": [{"fail": "wrong rule"}]},
            {
                "match": "review PR ([0-9]+)",
                "steps": [
                    {"progress": "reading {{1}}"},
                    {"sleep": 0.01},
                    {"file": "notes/{{1}}.md", "text": "# {{prompt}}"},
                    {"say": "Reviewed {{1}}."},
                    {"say": "Bye."},
                ],
            },
        ],
        "otherwise": [{"fail": "no rule"}],
    }
    outcome = run(stage.perform(rules, prompt="please review PR 149!", runtime="scripted"))
    assert (outcome.text, outcome.result) == ("Reviewed 149.\nBye.", UNSET)
    assert stage.told[0] == Progress("reading 149")
    written = stage.root / "crew-1/.calls/call_1/out/notes/149.md"
    assert written.read_text() == "# please review PR 149!"
    assert run(stage.perform(rules, prompt="else", runtime="scripted")).reason == "no rule"


def test_a_scripted_agent_asks_and_takes_a_steer_for_an_answer(stage: Stage) -> None:
    async def scene() -> Outcome:
        turn, made = stage.turn()
        steps = [{"ask": "Publish?", "as": "go"}, {"result": {"go": "{{go}}"}}]
        acting = stage.execution("scripted", {"otherwise": steps}, turn, made, stage.tell)
        running = asyncio.create_task(acting.run())
        await until(lambda: bool(stage.told))
        assert not await acting.answer("question_9", "no")
        assert await acting.steer("yes")
        assert not await acting.steer("again")
        return await running

    assert run(scene()).result == {"go": "yes"}


def test_a_scripted_agent_writes_nowhere_else(stage: Stage) -> None:
    for name in ("../escape", "/etc/passwd", ".hidden", "a//b", "{{prompt}}"):
        steps = [{"file": name, "text": "x"}]
        outcome = run(stage.perform({"otherwise": steps}, prompt="../../x", runtime="scripted"))
        assert isinstance(stage.told[-1], Failed)
        assert outcome.state == "failed"


def test_rules_may_stand_in_a_file(stage: Stage) -> None:
    (stage.agent / "rules.toml").write_text('otherwise = [{ say = "from a file" }]')
    (stage.agent / "rules.json").write_text('{"otherwise": [{"say": "from a file"}]}')
    for name in ("rules.toml", "rules.json"):
        assert run(stage.perform({"file": name}, runtime="scripted")).text == "from a file"
