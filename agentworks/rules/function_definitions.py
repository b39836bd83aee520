"""One function as an author writes it, checked whole, for files and for requests alike.

`definitions` judges what a function's parts say; here their shapes are judged first, and its
allow-list, so that everything wrong is told at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from agentworks.contracts.definitions import FunctionDefinition
from agentworks.contracts.refusal import Input
from agentworks.rules import limits, strict_json
from agentworks.rules.conversion import got
from agentworks.rules.definitions import INPUTS_MAX, function_problems
from agentworks.rules.shapes import field_misfits, frame_misfits, misfits, names_of
from agentworks.rules.strict_json import NotStrictJson, child, text_problem

PROBLEMS_MAX = 100  # problems told about one definition
CALLER_KINDS = ("crew", "workflow", "account", "connection")
_STAND_IN = Input(name="_" * 60, type="string")  # for an input that is not one
_AS_TEXT: dict[str, type] = {"inputs": list, "result_schema": dict}


class Judged(Struct, frozen=True):
    """`definition` is None when there are problems."""

    definition: FunctionDefinition | None
    problems: list[str]
    callers: list[tuple[str, str]]  # path and text of the entries that can be looked up


def judge(function: dict[str, Any]) -> Judged:
    """A function that comes alone, as the fields of a FunctionDefinition."""
    problems = size_problems(function) or function_definition_problems(function)
    callers = list(entries(function.get("allowed_callers", [])))
    if problems:
        return Judged(None, problems[:PROBLEMS_MAX], callers)
    given = opened(function, _AS_TEXT)[0]
    return Judged(msgspec.convert(given, FunctionDefinition), [], callers)


def function_definition_problems(function: Any, at: str = "") -> list[str]:
    """Everything that keeps one function's definition from being saved, with paths from `at`."""
    if not isinstance(function, dict):
        return [f"{at} must be an object (got {got(function)})"]
    given, problems = opened(function, _AS_TEXT, at)
    problems += frame_misfits(given, FunctionDefinition, at)
    sound: dict[str, Any] = {}
    for name in names_of(FunctionDefinition):
        if name not in given:
            continue
        if name == "inputs" and isinstance(given[name], list):
            found = _input_misfits(given[name], child(at, name))
            sound[name] = given[name]
        else:
            found = list(
                islice(field_misfits(given[name], FunctionDefinition, name, at), PROBLEMS_MAX)
            )
            if not found:
                sound[name] = given[name]
        problems += found
    return problems + [f"{at}.{each}" if at else each for each in _meaning_problems(sound)]


def function_of(given: Any) -> Any:
    """The same definition with its JSON texts read; problems were told before."""
    return opened(given, _AS_TEXT)[0]


def _input_misfits(inputs: list[Any], at: str) -> list[str]:
    found: list[str] = []
    for place, each in enumerate(inputs):
        found += misfits(each, Input, child(at, place))
        if len(found) > PROBLEMS_MAX:
            break
    return found


def _meaning_problems(sound: dict[str, Any]) -> Iterator[str]:
    """What is wrong with fields whose shapes are right; the others have been told."""
    given = sound.get("inputs", [])[: INPUTS_MAX + 1]
    inputs = [
        _STAND_IN if any(misfits(each, Input)) else msgspec.convert(each, Input) for each in given
    ]
    stand_ins = tuple(f"inputs[{place}]" for place, each in enumerate(inputs) if each is _STAND_IN)
    for problem in function_problems(
        sound.get("name", "placeholder"),
        inputs,
        sound.get("result_schema"),
        description=sound.get("description", ""),
    ):
        if not problem.startswith(stand_ins):
            yield problem
    yield from text_problems(
        sound.get("instructions", ""), "instructions", limits.INSTRUCTIONS_LENGTH_MAX
    )
    yield from _callers_problems(sound.get("allowed_callers", []))


def _callers_problems(callers: list[str]) -> Iterator[str]:
    most = limits.ALLOWED_CALLERS_MAX
    if len(callers) > most:
        yield f"allowed_callers has {len(callers):,}; at most {most} are allowed"
        return
    for place, each in enumerate(callers):
        kind, _, whom = each.partition(":")
        at = child("allowed_callers", place)
        if kind not in CALLER_KINDS or not whom.strip():
            wanted = ", ".join(f"{kind}:ID" for kind in CALLER_KINDS)
            yield f"{at} must be one of {wanted} (got {got(each)})"
        elif each in callers[:place]:
            yield f"{at} {got(each)} is there twice"


def entries(callers: Any, at: str = "allowed_callers") -> Iterator[tuple[str, str]]:
    """Path and text of each entry of an allow-list that has the form of one."""
    listed = callers if isinstance(callers, list) else []
    for place, each in enumerate(listed[: limits.ALLOWED_CALLERS_MAX]):
        if isinstance(each, str) and not any(_callers_problems([each])):
            yield child(at, place), each


def opened(
    given: dict[str, Any], as_text: dict[str, type], at: str = ""
) -> tuple[dict[str, Any], list[str]]:
    """The same object with its JSON texts read: TOML has no null, JSON within TOML has.

    What is no text of that kind stays, and is then a misfit of its own.
    """
    found, problems = dict(given), []
    for name, kind in as_text.items():
        text = given.get(name)
        if not isinstance(text, str):
            continue
        try:
            value = strict_json.parse(text, at=child(at, name))
        except NotStrictJson as not_json:
            problems += not_json.problems
            del found[name]
            continue
        if isinstance(value, kind):
            found[name] = value
    return found, problems


def as_object(given: Any) -> Any:
    """What is given as the JSON text of an object, as that object; anything else as it is (C22)."""
    if not isinstance(given, str):
        return given
    try:
        found = strict_json.parse(given)
    except NotStrictJson:
        return given
    return found if isinstance(found, dict) else given


def size_problems(definition: dict[str, Any]) -> list[str]:
    """Why it is not even looked at: its checks take time with its size."""
    try:
        size = len(json.dumps(definition))
    except (TypeError, ValueError, RecursionError):
        return ["the definition holds something that is not JSON, such as a date"]
    most = limits.DEFINITION_BYTES_MAX
    return [f"the definition has {size:,} bytes; at most {most:,} are allowed"] * (size > most)


def text_problems(text: str, at: str, length_max: int) -> list[str]:
    """Why a text of an author cannot be kept."""
    if len(text) > length_max:
        return [f"{at} has {len(text):,} characters; at most {length_max:,} are allowed"]
    flaw = text_problem(text)
    return [] if flaw is None else [f"{at} {flaw}"]
