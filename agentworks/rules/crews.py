"""A definition of an agent, checked whole: every problem with its path, before anything is saved.

Contract §7: a definition is what crew.toml holds, as JSON. What only the rows can tell, whether an
account or an agent it names exists, is asked where it is saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from agentworks.contracts.definitions import CrewDefinition
from agentworks.rules import limits
from agentworks.rules.conversion import got
from agentworks.rules.function_definitions import (
    PROBLEMS_MAX,
    entries,
    function_definition_problems,
    function_of,
    opened,
    size_problems,
    text_problems,
)
from agentworks.rules.names import name_problems
from agentworks.rules.runtimes import runtime_problems
from agentworks.rules.shapes import field_misfits, frame_misfits, names_of
from agentworks.rules.strict_json import child

_TRIGGER_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")

_AS_TEXT: dict[str, type] = {"runtime": dict}  # may also be the JSON text of what it is
_LISTS = {
    "functions": limits.FUNCTIONS_PER_AGENT_MAX,
    "triggers": limits.TRIGGERS_PER_AGENT_MAX,
    "members": limits.MEMBERS_PER_AGENT_MAX,
}


class Checked(Struct, frozen=True):
    """`definition` is None when there are problems; `given` is then what can be read of it."""

    definition: CrewDefinition | None
    problems: list[str]
    given: dict[str, Any]


def check(definition: Any) -> Checked:
    """Judge a definition as it came, any JSON value."""
    if not isinstance(definition, dict):
        return Checked(None, [f"the definition must be an object (got {got(definition)})"], {})
    unfit = size_problems(definition)
    if unfit:
        return Checked(None, unfit, {})
    given, problems = opened(definition, _AS_TEXT)
    problems += frame_misfits(given, CrewDefinition)
    for name in names_of(CrewDefinition):
        if name in given:
            problems += _field_problems(name, given[name])
        if len(problems) > PROBLEMS_MAX:
            break
    problems += _code_problems(given)
    if problems:
        return Checked(None, told(problems), given)
    whole = given | {"functions": [function_of(each) for each in _listed(given)]}
    return Checked(msgspec.convert(whole, CrewDefinition), [], given)


def told(problems: Iterable[str]) -> list[str]:
    """As many problems as one answer tells."""
    found = list(islice(problems, PROBLEMS_MAX + 1))
    return [*found[:PROBLEMS_MAX], "and more"] if len(found) > PROBLEMS_MAX else found


def _field_problems(name: str, value: Any) -> list[str]:
    """The problems of one field: of its shape, or else of what it says."""
    if name == "functions" and isinstance(value, list):
        return _functions_problems(value)
    found = list(islice(field_misfits(value, CrewDefinition, name), PROBLEMS_MAX + 1))
    if name == "triggers" and isinstance(value, list):
        return found + _triggers_problems(value)
    return found or list(_MEANINGS.get(name, _nothing)(value))


def _nothing(value: Any) -> list[str]:
    return []


def _about_problems(about: str) -> list[str]:
    return text_problems(about, "about", limits.ABOUT_LENGTH_MAX)


def _instructions_problems(text: str) -> list[str]:
    return text_problems(text, "instructions", limits.INSTRUCTIONS_LENGTH_MAX)


def _idle_problems(minutes: int) -> list[str]:
    most = limits.IDLE_MINUTES_MAX
    return (
        [] if 1 <= minutes <= most else [f"idle_minutes must be 1 to {most:,} (got {got(minutes)})"]
    )


def _members_problems(members: dict[str, Any]) -> list[str]:
    return _too_many("members", len(members))


def _too_many(name: str, count: int) -> list[str]:
    most = _LISTS[name]
    return [f"{name} has {count:,}; at most {most} are allowed"] if count > most else []


def _triggers_problems(triggers: list[Any]) -> list[str]:
    problems = _too_many("triggers", len(triggers))
    seen: set[str] = set()
    for place, each in enumerate(triggers[: limits.TRIGGERS_PER_AGENT_MAX]):
        trigger_id = each.get("id") if isinstance(each, dict) else None
        at = f"{child('triggers', place)}.id"
        if not isinstance(trigger_id, str):
            continue  # told as a misfit
        if not _TRIGGER_ID.fullmatch(trigger_id):
            problems.append(
                f"{at} must be 1 to 64 lower-case letters, digits, _ or -, and begin with a "
                f"letter or digit (got {got(trigger_id)})"
            )
        elif trigger_id in seen:
            problems.append(f"{at} {trigger_id} is taken by a trigger before it")
        seen.add(trigger_id)
    return problems


_MEANINGS: dict[str, Callable[[Any], list[str]]] = {
    "name": name_problems,
    "about": _about_problems,
    "instructions": _instructions_problems,
    "idle_minutes": _idle_problems,
    "runtime": runtime_problems,
    "members": _members_problems,
    "triggers": _triggers_problems,
}


def _code_problems(given: dict[str, Any]) -> Iterator[str]:
    """A code agent is private: nobody calls it, and nobody else has a role on it (contract §1)."""
    if given.get("kind") == "code":
        for name in _LISTS:
            if given.get(name):
                yield f"{name} must be left out: a code agent is its owner's alone"


# ── functions ────────────────────────────────────────────────────────────────────────────────


def _listed(given: dict[str, Any]) -> list[Any]:
    functions = given.get("functions")
    return functions if isinstance(functions, list) else []


def _functions_problems(functions: list[Any]) -> list[str]:
    problems = _too_many("functions", len(functions))
    seen: set[str] = set()
    for place, each in enumerate(functions[: limits.FUNCTIONS_PER_AGENT_MAX]):
        at = child("functions", place)
        problems += function_definition_problems(each, at)
        name = each.get("name") if isinstance(each, dict) else None
        if isinstance(name, str):
            if name in seen:
                problems.append(f"{at}.name {got(name)} is taken by a function before it")
            seen.add(name)
        if len(problems) > PROBLEMS_MAX:
            break
    return problems


def callers_in(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Path and text of every allow-list entry that can be looked up."""
    for place, function in enumerate(_listed(given)[: limits.FUNCTIONS_PER_AGENT_MAX]):
        if isinstance(function, dict):
            at = f"{child('functions', place)}.allowed_callers"
            yield from entries(function.get("allowed_callers"), at)


def members_in(given: dict[str, Any]) -> list[str]:
    """The account names a definition gives roles to, as far as they can be read."""
    members = given.get("members")
    return list(members)[: limits.MEMBERS_PER_AGENT_MAX] if isinstance(members, dict) else []
