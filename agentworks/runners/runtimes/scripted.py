"""The `scripted` runtime: rules instead of a mind. For the demo workspace and for tests.

The same prompt gives the same turn: no clock, no chance, no network but the platform's own.
The first rule whose pattern is found in the prompt is performed, step by step, or `otherwise`.

    [[runtime.rules]]
    match = "review PR ([0-9]+)"
    steps = [
      { progress = "reading PR {{1}}" },
      { call = "functions.call", args = { target = "Tester", function = "run" }, as = "run" },
      { ask = "Publish?", schema = { type = "boolean" }, as = "publish" },
      { file = "findings.md", text = "# PR {{1}}" },
      { say = "Reviewed PR {{1}}: {{run.status}}" },
      { result = { pr = "{{1}}", published = "{{publish}}" } },
    ]

Other steps: { sleep = 0.1 }, { fail = "why" }. In texts {{prompt}}, {{1}} (a group of the pattern)
and {{name}} or {{name.key}} (what a step kept with `as`) are filled in; a text that is nothing but
one of them becomes the very value. What is said, line by line, is the answer.
"""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, field

from agentworks.rules import ambiguity, patterns
from agentworks.runners import files, python_host
from agentworks.runners.runtime import (
    Capabilities,
    Event,
    Failed,
    Final,
    NeedInput,
    Progress,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from agentworks.runners.runtimes import WrongSettings, settings_of
from agentworks.runners.runtimes.python import routes

_PROMPT_LOOKED_AT = 2_000  # characters of a prompt that patterns are searched in
_STEPS_MAX = 1_000
_SLEEP_SECONDS_MAX = 3_600
_CALLS_AT_ONCE = 32
_PLACE = re.compile(r"\{\{\s*([A-Za-z0-9_.]+)\s*\}\}")
_KINDS = ("say", "progress", "call", "ask", "result", "fail", "sleep", "file")
_BESIDES = {"call": {"args", "as"}, "ask": {"schema", "as"}, "file": {"text"}}

Step = dict[str, Any]
Steps = Annotated[list[Step], Meta(max_length=_STEPS_MAX)]


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    match: str
    steps: Steps


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rules themselves, or the name of a TOML or JSON file in the agent's folder with them."""

    rules: Annotated[list[Rule], Meta(max_length=1_000)] = field(default_factory=list)
    otherwise: Steps = field(default_factory=list)
    file: str = ""
    corrects: bool = True


def open_runtime(settings: Mapping[str, Any], folder: Path) -> Scripted:
    chosen = settings_of(Settings, settings)
    if chosen.file:
        chosen = settings_of(Settings, _from_file(folder, chosen.file))
    problems = [problem for rule in chosen.rules for problem in _pattern_problems(rule.match)]
    for steps in (*(rule.steps for rule in chosen.rules), chosen.otherwise):
        problems += [problem for step in steps for problem in _step_problems(step)]
    if not (chosen.rules or chosen.otherwise):
        problems.append("rules or otherwise must have something to do")
    if problems:
        raise WrongSettings(problems)
    return Scripted(chosen, folder)


def _from_file(folder: Path, name: str) -> Mapping[str, Any]:
    problems = files.name_problems(name)
    if problems:
        raise WrongSettings(problems)
    try:
        text = (folder / name).read_text("utf-8")
        found = json.loads(text) if name.endswith(".json") else tomllib.loads(text)
    except (OSError, ValueError) as why:
        raise WrongSettings([f"file {name}: {why}"]) from None
    if not isinstance(found, dict) or "file" in found:
        raise WrongSettings([f"file {name}: must be an object with rules or otherwise"])
    return found


def _pattern_problems(pattern: str) -> list[str]:
    """Only patterns that cannot take for ever: they meet prompts of strangers, in the server."""
    try:
        trouble = ambiguity.trouble(patterns.read(pattern))
    except patterns.BadPattern as why:
        trouble = str(why)
    return [f"match {pattern[:100]!r} {trouble}"] if trouble else []


def _step_problems(step: Step) -> list[str]:
    kinds = [kind for kind in _KINDS if kind in step]
    if len(kinds) != 1:
        return [f"a step must have one of {', '.join(_KINDS)} (got {', '.join(step)[:100]})"]
    kind = kinds[0]
    found = [
        f"a {kind} step has no {name[:50]}"
        for name in step
        if name != kind and name not in _BESIDES.get(kind, ())
    ]
    value = step[kind]
    if kind == "sleep":
        if isinstance(value, bool) or not isinstance(value, int | float):
            found.append("sleep must be a number of seconds")
        elif not 0 <= value <= _SLEEP_SECONDS_MAX:
            found.append(f"sleep must be from 0 to {_SLEEP_SECONDS_MAX} seconds")
    elif kind != "result" and not isinstance(value, str):
        found.append(f"{kind} must be text")
    if kind == "call" and not isinstance(step.get("args", {}), dict):
        found.append("args of a call must be an object")
    return found


@cache
def _callers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_CALLS_AT_ONCE, thread_name_prefix="scripted")


class Scripted:
    """One turn of rules."""

    name = "scripted"

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self._known: dict[str, Any] = {}
        self._said: list[str] = []
        self._given: Any = UNSET  # the structured result
        self._asked = 0
        self._question: tuple[str, asyncio.Future[Any]] | None = None

    def probe(self) -> Capabilities:
        return Capabilities(
            available=True,
            why="follows rules; no model is asked",
            in_process=True,
            streams=True,
            steers=True,
            asks=True,
            uses_tools=True,
            corrects=self.settings.corrects,
        )

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        for step in self._chosen(turn.prompt):
            async for event in self._performed(turn, step):
                yield event
                if isinstance(event, Failed):
                    return
        yield Final(text="\n".join(self._said), result=self._given)

    def _chosen(self, prompt: str) -> list[Step]:
        self._known = {"prompt": prompt}
        for rule in self.settings.rules:
            found = re.search(rule.match, prompt[:_PROMPT_LOOKED_AT])
            if found:
                groups = (found.group(), *found.groups(""))
                self._known |= {str(number): text for number, text in enumerate(groups)}
                return rule.steps
        return self.settings.otherwise

    async def _performed(self, turn: Turn, step: Step) -> AsyncIterator[Event]:
        if "call" in step or "ask" in step:
            async for event in self._call(turn, step) if "call" in step else self._ask(step):
                yield event
        elif "sleep" in step:
            await asyncio.sleep(step["sleep"])
        elif "result" in step:
            self._given = self._filled(step["result"])
        else:
            yield self._told(turn, step)

    def _told(self, turn: Turn, step: Step) -> Event:
        """The steps that are done at once."""
        if "say" in step:
            self._said.append(self._text(step["say"]))
            return Text(self._said[-1] + "\n")
        if "progress" in step:
            return Progress(self._text(step["progress"]))
        if "fail" in step:
            return Failed(reason=self._text(step["fail"]), partial="\n".join(self._said))
        name = self._text(step["file"])
        if turn.output is None:
            return Failed(reason=f"file {name}: this turn has no folder of its own")
        try:
            files.write_new(turn.output, (), name, self._text(step.get("text", "")).encode())
        except (OSError, files.BadName) as why:
            return Failed(reason=f"file {name}: {why}")
        return Progress(f"wrote {name}")

    async def _call(self, turn: Turn, step: Step) -> AsyncIterator[Event]:
        operation, args = self._text(step["call"]), self._filled(step.get("args", {}))
        yield ToolCall(operation, args)
        given = (turn.server_url, turn.token, routes(), operation, args)
        try:
            answer = await asyncio.get_running_loop().run_in_executor(
                _callers(), python_host.call, *given
            )
        except (OSError, ValueError, HTTPException, python_host.NoSuchOperation) as why:
            yield Failed(reason=f"call {operation}: {why}", partial="\n".join(self._said))
            return
        self._keep(step, answer)
        yield ToolResult(operation, answer, ok=answer.get("status") not in ("refused", "fault"))

    async def _ask(self, step: Step) -> AsyncIterator[Event]:
        self._asked += 1
        request_id = f"question_{self._asked}"
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._question = (request_id, waiting)
        yield NeedInput(request_id, self._text(step["ask"]), schema=step.get("schema"))
        self._keep(step, await waiting)

    def _keep(self, step: Step, value: Any) -> None:
        self._known[step.get("as", "answer")] = value

    def _text(self, template: Any) -> str:
        filled = self._filled(template)
        return filled if isinstance(filled, str) else json.dumps(filled, ensure_ascii=False)

    def _filled(self, template: Any) -> Any:
        """The template with what is known put in its places."""
        if isinstance(template, dict):
            return {key: self._filled(value) for key, value in template.items()}
        if isinstance(template, list):
            return [self._filled(value) for value in template]
        if not isinstance(template, str):
            return template
        only = _PLACE.fullmatch(template)
        if only:
            return self._value(only.group(1))
        return _PLACE.sub(lambda place: self._spelled(place.group(1)), template)

    def _spelled(self, path: str) -> str:
        value = self._value(path)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def _value(self, path: str) -> Any:
        value: Any = self._known
        for key in path.split("."):
            value = value.get(key, "") if isinstance(value, dict) else ""
        return value

    async def steer(self, text: str) -> bool:
        """Text answers the open question; without one it must wait for the next turn."""
        return self._question is not None and await self.answer(self._question[0], text)

    async def answer(self, request_id: str, answer: Any) -> bool:
        if self._question is None or self._question[0] != request_id:
            return False
        self._question[1].set_result(answer)
        self._question = None
        return True

    async def stop(self, grace: float) -> None:
        """Nothing to wait for: the supervisor cancels it."""
