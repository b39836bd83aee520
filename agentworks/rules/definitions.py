"""The functions authors save: names, inputs and result, checked whole before they are kept.

Contract §5: names are checked, defaults validated and schemas vetted when saved, all problems at
once, so that no caller ever meets a function that cannot be called.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec import UNSET

from agentworks.contracts.refusal import Input
from agentworks.rules.conversion import TYPES, convert, got, is_exactly, items_of
from agentworks.rules.fingerprints import canonical
from agentworks.rules.schemas import json_problems, schema_problems
from agentworks.rules.strict_json import child, text_problem

FUNCTION_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
INPUT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
RESERVED_FUNCTIONS = frozenset({"ask"})  # built in, in every Crew and workflow

INPUTS_MAX = 64  # inputs of one function
INPUT_BYTES_MAX = 16 * 1024  # bytes of one input's values and items, written as JSON
ENUM_VALUES_MAX = 500  # choices of one input
EXAMPLES_MAX = 20  # examples of one input
DESCRIPTION_LENGTH_MAX = 2_000  # characters of one description
AUTHORED_DEPTH_MAX = 32  # nested arrays and objects in one input's values and items
_ITEM_WORDS = {"type": str, "nullable": bool, "description": str, "enum": list, "items": dict}


def function_problems(
    name: str,
    inputs: Sequence[Input],
    result_schema: Any = None,
    *,
    description: str = "",
    reserved_inputs: Collection[str] = (),
) -> list[str]:
    """Everything that keeps a function from being saved, each with its path; empty if nothing.

    `reserved_inputs` are names the server adds itself, such as a workflow's `group`.
    """
    problems = [*_name_problems(name), *_description_problems(description, "description")]
    problems += _inputs_problems(inputs, reserved_inputs)
    if result_schema is not None:
        problems += schema_problems(result_schema)
    return problems


def _name_problems(name: str) -> Iterator[str]:
    if not FUNCTION_NAME.fullmatch(name):
        yield (
            "name must be a lower-case letter, then at most 63 lower-case letters, digits or _ "
            f"(got {got(name)})"
        )
    elif name in RESERVED_FUNCTIONS:
        yield f"name {name} is built in; choose another"


def _description_problems(description: str, at: str) -> Iterator[str]:
    if len(description) > DESCRIPTION_LENGTH_MAX:
        yield f"{at} has more than {DESCRIPTION_LENGTH_MAX:,} characters"
    problem = text_problem(description)
    if problem is not None:
        yield f"{at} {problem}"


# ── inputs ───────────────────────────────────────────────────────────────────────────────────


def _inputs_problems(inputs: Sequence[Input], reserved: Collection[str]) -> Iterator[str]:
    if len(inputs) > INPUTS_MAX:
        yield f"inputs has {len(inputs):,}; at most {INPUTS_MAX} are allowed"
        return
    seen: set[str] = set()
    for index, each in enumerate(inputs):
        at = child("inputs", index)
        if not INPUT_NAME.fullmatch(each.name):
            yield (
                f"{at}.name must be a letter or _, then at most 63 letters, digits or _ "
                f"(got {got(each.name)})"
            )
        elif each.name in seen:
            yield f"{at}.name {each.name} is taken by an input before it"
        elif each.name in reserved:
            yield f"{at}.name {each.name} is reserved; choose another"
        seen.add(each.name)
        yield from _description_problems(each.description, f"{at}.description")
        yield from _value_problems(each, at)


def _value_problems(declared: Input, at: str) -> list[str]:
    """An input's choices, items, default and examples."""
    authored = {
        "enum": declared.enum,
        "items": declared.items,
        "default": None if declared.default is UNSET else declared.default,
        "examples": declared.examples,
    }
    problems = json_problems(authored, at, INPUT_BYTES_MAX, AUTHORED_DEPTH_MAX)
    problems = problems or list(_rule_problems(declared, at))
    if problems:  # what is checked by a wrong rule is judged wrongly
        return problems
    if declared.default is not UNSET:
        problems += _misfit(declared.default, declared, f"{at}.default")
    if len(declared.examples or []) > EXAMPLES_MAX:
        problems.append(f"{at}.examples has more than {EXAMPLES_MAX}")
    for index, each in enumerate((declared.examples or [])[:EXAMPLES_MAX]):
        problems += _misfit(each, declared, child(f"{at}.examples", index))
    return problems


def _rule_problems(declared: Input, at: str) -> Iterator[str]:
    if declared.type not in TYPES:
        yield f"{at}.type must be one of: {', '.join(TYPES)} (got {got(declared.type)})"
    elif declared.items is not None:
        yield from _items_problems(declared, f"{at}.items")
    elif declared.enum is not None:
        yield from _enum_problems(declared, f"{at}.enum")


def _items_problems(declared: Input, at: str) -> Iterator[str]:
    if declared.type != "array":
        yield f"{at} belongs to arrays only"
    elif declared.enum is not None:
        yield f"{at} cannot go with enum; put the choices into items.enum"
    elif not isinstance(declared.items, dict):
        yield f"{at} must be an object (got {got(declared.items)})"
    else:
        wrong = list(_item_word_problems(declared.items, at))
        yield from wrong or _rule_problems(items_of(declared), at)


def _item_word_problems(items: dict[str, Any], at: str) -> Iterator[str]:
    if "type" not in items:
        yield f"{at} lacks type"
    for word, value in items.items():
        if word not in _ITEM_WORDS:
            yield f"{child(at, word)} is unknown; items may have {', '.join(_ITEM_WORDS)}"
        elif not isinstance(value, _ITEM_WORDS[word]):
            yield f"{child(at, word)} must be a {_ITEM_WORDS[word].__name__} (got {got(value)})"


def _enum_problems(declared: Input, at: str) -> Iterator[str]:
    choices = declared.enum or []
    if not choices:
        yield f"{at} is empty: no value would ever fit"
    if len(choices) > ENUM_VALUES_MAX:
        yield f"{at} has more than {ENUM_VALUES_MAX} choices"
        return
    rule = Input(name=declared.name, type=declared.type)
    seen: set[str] = set()
    for index, each in enumerate(choices):
        where = child(at, index)
        if each is None:
            yield f"{where} is null; write nullable instead"
        else:
            yield from _misfit(each, rule, where)
        if canonical(each) in seen:
            yield f"{where} {got(each)} is there twice"
        seen.add(canonical(each))


def _misfit(value: Any, declared: Input, at: str) -> list[str]:
    """Authors write values as they are meant: text is not read as a number or an object here."""
    if is_exactly(value, declared):
        return []
    problems = convert(value, declared, at)[1]
    return problems or [f"{at} must not be written as text (got {got(value)})"]
