"""The runtimes an agent's definition may name: their settings, and which of them start programs.

Pure, so that a definition is checked whole when it is saved; `runners/runtimes` opens the same
settings for a turn. A test holds the two against each other.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from agentworks.rules import ambiguity, limits, patterns
from agentworks.rules.conversion import got
from agentworks.rules.paths import path_problems
from agentworks.rules.schemas import json_problems
from agentworks.rules.shapes import misfits
from agentworks.rules.strict_json import child

#: Runtimes that start programs of the author's choosing: they need the owner role (contract §2).
STARTS_PROGRAMS = frozenset({"command", "python"})
SETTINGS_DEPTH_MAX = 32  # nested arrays and objects in a runtime's settings
_SLEEP_SECONDS_MAX = 3_600
_STEP_KINDS = ("say", "progress", "call", "ask", "result", "fail", "sleep", "file")
_STEP_BESIDES = {"call": {"args", "as"}, "ask": {"schema", "as"}, "file": {"text"}}

Word = Annotated[str, Meta(max_length=10_000)]
Steps = Annotated[list[dict[str, Any]], Meta(max_length=1_000)]


class CommandSettings(Struct, frozen=True, kw_only=True):
    name: Literal["command"]
    argv: Annotated[list[Word], Meta(min_length=1, max_length=1_000)]
    events: Literal["text", "jsonl"] = "text"
    steer: bool = False
    corrects: bool = True


class PythonSettings(Struct, frozen=True, kw_only=True):
    name: Literal["python"]
    file: Annotated[str, Meta(min_length=1, max_length=1_000)]
    python: Annotated[str, Meta(max_length=1_000)] = ""
    steer: bool = False
    corrects: bool = True


class ScriptedRule(Struct, frozen=True, kw_only=True):
    match: str
    steps: Steps


class ScriptedRules(Struct, frozen=True, kw_only=True):
    """What stands in the settings, or in the file they name."""

    rules: Annotated[list[ScriptedRule], Meta(max_length=1_000)] = field(default_factory=list)
    otherwise: Steps = field(default_factory=list)
    corrects: bool = True


class ScriptedSettings(ScriptedRules, frozen=True, kw_only=True):
    name: Literal["scripted"]
    file: str = ""


SETTINGS: dict[str, type[Struct]] = {
    "command": CommandSettings,
    "python": PythonSettings,
    "scripted": ScriptedSettings,
}


def starts_programs(runtime: Mapping[str, Any] | None) -> bool:
    """True for a runtime that only an owner may set or change."""
    return runtime is not None and runtime.get("name") in STARTS_PROGRAMS


def stored_runtime(text: str | None) -> dict[str, Any] | None:
    """A runtime as it was saved, {name, …settings}; None for an agent that nothing runs."""
    return None if text is None else msgspec.json.decode(text)


def runtime_problems(runtime: Any, at: str = "runtime") -> list[str]:
    """Everything that keeps `runtime` ({name, …settings} or None) from being saved."""
    if runtime is None:
        return []
    if not isinstance(runtime, dict):
        return [f"{at} must be an object with a name (got {got(runtime)})"]
    problems = json_problems(runtime, at, limits.RUNTIME_BYTES_MAX, SETTINGS_DEPTH_MAX)
    if problems:
        return problems
    name = runtime.get("name")
    if not isinstance(name, str) or name not in SETTINGS:
        known = ", ".join(SETTINGS)
        return [f"{at}.name must be one of: {known} (got {got(name)})"]
    problems = list(misfits(runtime, SETTINGS[name], at))
    return problems or list(_BY_NAME[name](runtime, at))


def file_problems(
    runtime: Mapping[str, Any] | None, files: Mapping[str, bytes | None], at: str = "runtime"
) -> list[str]:
    """Whether the file that a sound runtime names is there, and holds what it should.

    `files` are the contents by path; None for one whose content has not changed since it was
    checked.
    """
    name = "" if runtime is None else str(runtime.get("file", ""))
    if not name:
        return []
    if name not in files:
        return [f"{at}.file {name} is not among the files of the agent"]
    raw = files[name]
    if raw is None or runtime is None or runtime["name"] != "scripted":
        return []
    return list(_rules_file_problems(name, raw))


def _command_problems(settings: dict[str, Any], at: str) -> Iterator[str]:
    if not settings["argv"][0]:
        yield f"{at}.argv[0] must not be empty: it is the program"
    if settings.get("steer") and settings.get("events") != "jsonl":
        yield f'{at}.steer needs events = "jsonl"'


def _python_problems(settings: dict[str, Any], at: str) -> Iterator[str]:
    yield from path_problems(settings["file"], f"{at}.file")


def _scripted_problems(settings: dict[str, Any], at: str) -> Iterator[str]:
    if settings.get("file"):
        yield from path_problems(settings["file"], f"{at}.file")
        if settings.get("rules") or settings.get("otherwise"):
            yield f"{at}.file takes the place of rules and otherwise; give one or the other"
    else:
        yield from _rules_problems(settings, at)


_BY_NAME = {
    "command": _command_problems,
    "python": _python_problems,
    "scripted": _scripted_problems,
}


# ── rules of the scripted runtime ────────────────────────────────────────────────────────────


def _rules_file_problems(name: str, raw: bytes) -> Iterator[str]:
    at = f"files/{name}"
    try:
        text = raw.decode()
        found = json.loads(text) if name.endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as why:
        yield f"{at}: {why}"
        return
    if not isinstance(found, dict):
        yield f"{at} must be an object with rules or otherwise (got {got(found)})"
        return
    problems = json_problems(found, at, limits.RUNTIME_BYTES_MAX, SETTINGS_DEPTH_MAX)
    problems = problems or list(misfits(found, ScriptedRules, at))
    yield from problems or _rules_problems(found, at)


def _rules_problems(settings: dict[str, Any], at: str) -> Iterator[str]:
    rules, otherwise = settings.get("rules", []), settings.get("otherwise", [])
    if not (rules or otherwise):
        yield f"{at} must have rules or otherwise, with something to do"
    for place, rule in enumerate(rules):
        here = child(f"{at}.rules", place)
        trouble = _pattern_trouble(rule["match"])
        if trouble:
            yield f"{here}.match {got(rule['match'])} {trouble}"
        yield from _steps_problems(rule["steps"], f"{here}.steps")
    yield from _steps_problems(otherwise, f"{at}.otherwise")


def _pattern_trouble(pattern: str) -> str | None:
    """Only patterns that cannot take for ever: they meet prompts of strangers, in the server."""
    try:
        return ambiguity.trouble(patterns.read(pattern))
    except patterns.BadPattern as why:
        return str(why)


def _steps_problems(steps: list[dict[str, Any]], at: str) -> Iterator[str]:
    for place, step in enumerate(steps):
        yield from _step_problems(step, child(at, place))


def _step_problems(step: dict[str, Any], at: str) -> Iterator[str]:
    kinds = [kind for kind in _STEP_KINDS if kind in step]
    if len(kinds) != 1:
        yield f"{at} must have exactly one of: {', '.join(_STEP_KINDS)}"
        return
    kind = kinds[0]
    for name in step:
        if name != kind and name not in _STEP_BESIDES.get(kind, ()):
            yield f"{child(at, name)} does not belong to a {kind} step"
    value = step[kind]
    if kind == "sleep":
        sound = not isinstance(value, bool) and isinstance(value, int | float)
        if not sound or not 0 <= value <= _SLEEP_SECONDS_MAX:
            yield f"{at}.sleep must be 0 to {_SLEEP_SECONDS_MAX} seconds (got {got(value)})"
    elif kind != "result" and not isinstance(value, str):
        yield f"{child(at, kind)} must be text (got {got(value)})"
    if kind == "call" and not isinstance(step.get("args", {}), dict):
        yield f"{at}.args must be an object (got {got(step['args'])})"
