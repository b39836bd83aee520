"""Functions as an author might write them and calls as a caller might get them wrong, made up.

Strategies for hypothesis. Every function made here is one that may be saved. What can be built
once is built once: most of the time of such tests goes into building strategies.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from hypothesis import strategies as some
from msgspec import UNSET

from agentworks.contracts.refusal import Input
from agentworks.rules.fingerprints import canonical

NAMES = ["PR_NUMBER", "GROUP", "owner", "Note", "dry_run", "IDS", "_x", "limit2"]
TYPES = ["string", "integer", "number", "boolean", "object", "array"]
WORDS = ["staging", "prod", "Prod", "in progress", "x|y", "", "149", "true", "é", "{}"]
UNREADABLE = [UNSET, None, True, 5, "", "{", "[]", "null", '{"a":1,"a":2}', [1]]

names = some.sampled_from(NAMES)
maybe = some.booleans()
dice = some.integers(0, 9)
floats = some.floats(allow_nan=False, allow_infinity=False)
integers = some.integers() | some.sampled_from([0, 1, 2**53, 2**53 + 1, 10**30, -(2**63) - 1])
texts = some.sampled_from(WORDS) | some.text(
    some.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8
)
scalars = some.sampled_from([None, True, False, 1, 1.5, 2**53 + 1, *WORDS]) | integers | texts
objects = some.dictionaries(names, scalars, max_size=2)
values = (
    scalars
    | objects
    | some.lists(scalars, max_size=3)
    | some.sampled_from([[[1], {"a": [None]}], {"a": {"b": [1.0]}}])
)
RIGHT: dict[str, some.SearchStrategy[Any]] = {
    "string": texts,
    "integer": integers | some.integers(-(2**53), 2**53).map(float),
    "number": integers | floats,
    "boolean": maybe,
    "object": objects,
    "array": some.lists(values, max_size=3),
}
CHOICES: dict[str, some.SearchStrategy[list[Any]]] = {
    type_: some.lists(right, min_size=1, max_size=3, unique_by=canonical)
    for type_, right in RIGHT.items()
}
sizes = some.integers(0, 3)
types = some.sampled_from(TYPES)
name_lists = some.lists(names, unique=True, max_size=4)
strangers = some.dictionaries(names | texts, values, max_size=1)
unreadable = some.sampled_from(UNREADABLE)


@some.composite
def functions(draw: some.DrawFn) -> list[Input]:
    return [an_input(draw, name) for name in draw(name_lists)]


@some.composite
def functions_and_calls(draw: some.DrawFn) -> tuple[list[Input], Any]:
    declared = [an_input(draw, name) for name in draw(name_lists)]
    return declared, a_call(draw, declared)


# ── functions ────────────────────────────────────────────────────────────────────────────────


def an_input(draw: some.DrawFn, name: str) -> Input:
    rule = a_rule(draw, depth=0)
    return Input(
        name=name,
        type=rule["type"],
        required=draw(maybe),
        nullable=rule["nullable"],
        enum=rule.get("enum"),
        items=rule.get("items"),
        default=a_fit(draw, rule) if draw(maybe) else UNSET,
        examples=[a_fit(draw, rule)] if draw(maybe) else None,
    )


def a_rule(draw: some.DrawFn, depth: int) -> dict[str, Any]:
    """type, nullable, and at most one of enum and items."""
    rule: dict[str, Any] = {"type": draw(types), "nullable": draw(maybe)}
    if rule["type"] == "array" and depth < 2 and draw(maybe):
        rule["items"] = a_rule(draw, depth + 1)
    elif draw(maybe):
        rule["enum"] = draw(CHOICES[rule["type"]])
    return rule


def a_fit(draw: some.DrawFn, rule: dict[str, Any]) -> Any:
    """A value that is right as it stands."""
    if rule.get("nullable") and not draw(sizes):
        return None
    if rule.get("enum"):
        return draw(among(len(rule["enum"])).map(rule["enum"].__getitem__))
    if rule.get("items"):
        return [a_fit(draw, rule["items"]) for _ in range(draw(sizes))]
    return draw(RIGHT[rule["type"]])


@lru_cache
def among(size: int) -> some.SearchStrategy[int]:
    return some.integers(0, size - 1)


# ── calls ────────────────────────────────────────────────────────────────────────────────────


def a_call(draw: some.DrawFn, declared: list[Input]) -> Any:
    """Arguments: an object, its text, its text's text, something unreadable, or none."""
    args = {misspelt(each.name, draw(dice)): an_attempt(draw, each) for each in declared}
    args = {name: value for name, value in args.items() if name} | draw(strangers)
    form = draw(dice)
    if form == 0:
        return draw(unreadable)
    text = json.dumps(args)
    return text if form == 1 else json.dumps(text) if form == 2 else args


def misspelt(name: str, how: int) -> str:
    """Right in half of the cases; empty for left out."""
    forms = ["", "", name.lower(), name.title(), f"{name}S", name.replace("_", "-")]
    return forms[how] if how < len(forms) else name


def an_attempt(draw: some.DrawFn, declared: Input) -> Any:
    """A value for an input: right, right as text, nearly right, or anything."""
    how = draw(dice)
    if how == 0:
        return draw(values)
    rule = {"type": declared.type, "nullable": declared.nullable}
    right = a_fit(draw, rule | {"enum": declared.enum, "items": declared.items})
    text = right if isinstance(right, str) else json.dumps(right)
    forms = [text, text.upper(), f" {text} ", json.dumps(text), f"+{text}"]
    return forms[how - 1] if how <= len(forms) else right
