"""One value by its declared type: taken as it is, converted where nothing is lost, or refused.

Contract §5 "Inputs"; [S4]: "Type conversion only where it's lossless".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from agentworks.contracts.refusal import Input
from agentworks.rules import strict_json
from agentworks.rules.fingerprints import among, same
from agentworks.rules.limits import JSON_DEPTH_MAX
from agentworks.rules.strict_json import INTEGER_DIGITS_MAX, NotStrictJson
from agentworks.rules.wording import shown

WHOLE_DOUBLE_MAX = 2**53  # up to here every whole double is the integer that was meant
#: A value lies two levels deep in a call, {"args": {"X": …}}: text may nest as deep as JSON may.
VALUE_DEPTH_MAX = JSON_DEPTH_MAX - 2
_ITEM_PROBLEMS_MAX = 5  # wrong items told about one array
_CHOICES_SHOWN_MAX = 20  # enum values inside one sentence
_TEXT_SHOWN_MAX = 80  # characters of a text handed to `shown`, which cuts further

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[\w./:@+-]+")

NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "object": "an object",
    "array": "an array",
}
TYPES = tuple(NOUNS)


class _Unfit(Exception):
    """A value that does not fit; the text, if any, says why it looked as if it might."""


def convert(
    value: Any, declared: Input, at: str, depth_max: int = VALUE_DEPTH_MAX
) -> tuple[Any, list[str]]:
    """The value as `declared` wants it, and no problems; or the value as given, and all of them.

    `at` names the value in the problems: `GROUP must be one of: staging, prod (got "dev")`.
    `depth_max` is how deep a text may nest that is read as an object or array.
    """
    if value is None:
        return value, [] if declared.nullable else [f"{_must(declared, at)} (got null)"]
    try:
        if isinstance(value, str) and declared.type in ("object", "array"):
            converted = _held(value, declared.type, depth_max)
        else:
            converted = _BY_TYPE[declared.type](value)
    except _Unfit as unfit:
        reason = f"{got(value)}: {unfit}" if unfit.args else got(value)
        return value, [f"{_must(declared, at)} (got {reason})"]
    if isinstance(converted, list) and declared.items is not None:
        converted, problems = _items(converted, items_of(declared), at, depth_max - 1)
        if problems:
            return value, problems
    if declared.enum is not None and not among(converted, declared.enum):
        return value, [f"{_must(declared, at)} (got {got(value)})"]
    return converted, []


def is_exactly(value: Any, declared: Input) -> bool:
    """True when `value` is valid as it stands, without reading any text as something else.

    What authors write (defaults, enum values, examples) has to be right, not convertible.
    """
    converted, problems = convert(value, declared, "")
    return not problems and same(value, converted)


def items_of(declared: Input) -> Input:
    """The rule for the items of an array input whose `items` were vetted when saved."""
    rule = declared.items
    return Input(
        name=declared.name,
        type=rule["type"],
        required=True,
        nullable=rule.get("nullable", False),
        enum=rule.get("enum"),
        items=rule.get("items"),
    )


def got(value: Any) -> str:
    """A wrong value in a few words, at a cost that does not grow with it."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return shown(value[:_TEXT_SHOWN_MAX] if isinstance(value, str) else value)


def bare(choice: Any) -> str:
    """An enum value as a word: staging, 3, true; quoted when it could be misread."""
    return choice if isinstance(choice, str) and _WORD.fullmatch(choice) else shown(choice)


def _must(declared: Input, at: str) -> str:
    if declared.enum is None:
        return f"{at} must be {NOUNS[declared.type]}"
    choices = [bare(each) for each in declared.enum[:_CHOICES_SHOWN_MAX]]
    more = len(declared.enum) - len(choices)
    return f"{at} must be one of: {', '.join(choices)}" + (f" and {more} more" if more else "")


# ── arrays ───────────────────────────────────────────────────────────────────────────────────


def _items(values: list[Any], rule: Input, at: str, depth_max: int) -> tuple[list[Any], list[str]]:
    if rule.enum is None and _plainly_fit(values, rule.type):
        return values, []
    converted: list[Any] = []
    problems: list[str] = []
    wrong = 0
    for index, each in enumerate(values):
        item, found = convert(each, rule, f"{at}[{index}]", depth_max)
        wrong += bool(found)
        if wrong > _ITEM_PROBLEMS_MAX:
            return values, [*problems, f"{at} has more wrong items"]
        converted.append(item)
        problems += found
    return converted, problems


def _plainly_fit(values: list[Any], type_: str) -> bool:
    """True for the usual array, whose items need no conversion; found out at the speed of C."""
    found = set(map(type, values))
    if type_ == "string":
        return found <= {str} and strict_json.text_problem("".join(values)) is None
    if type_ == "number":
        return found <= {int, float} and all(map(math.isfinite, values))
    return (type_ == "integer" and found <= {int}) or (type_ == "boolean" and found <= {bool})


# ── one function per type: the converted value, or _Unfit ────────────────────────────────────


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unfit
    problem = strict_json.text_problem(value)
    if problem is not None:
        raise _Unfit(f"it {problem}")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value) or value == "-0":
            raise _Unfit
        return _digits(value)
    if isinstance(value, float) and value.is_integer():
        if abs(value) > WHOLE_DOUBLE_MAX:
            raise _Unfit("as a double it may be rounded; write all its digits")
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _Unfit
    return value


def _number(value: Any) -> int | float:
    if isinstance(value, str):
        return _spelled_number(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _Unfit
    if isinstance(value, float) and not math.isfinite(value):
        raise _Unfit("it is not finite")
    return value


def _spelled_number(text: str) -> int | float:
    if _INTEGER.fullmatch(text) and text != "-0":
        return _digits(text)
    if not _NUMBER.fullmatch(text):
        raise _Unfit
    exact = strict_json.exact_number(text)
    if exact is None:
        raise _Unfit("a number cannot hold it exactly")
    return exact


def _digits(text: str) -> int:
    if len(text.lstrip("-")) > INTEGER_DIGITS_MAX:
        raise _Unfit(f"it has more than {INTEGER_DIGITS_MAX:,} digits")
    return int(text)


def _boolean(value: Any) -> bool:
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    if not isinstance(value, bool):
        raise _Unfit
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Unfit
    return value


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _Unfit
    return value


_BY_TYPE: dict[str, Callable[[Any], Any]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "object": _object,
    "array": _array,
}


def _held(text: str, type_: str, depth_max: int) -> Any:
    """The object or array that `text` spells, by the same strict reader as every body (C22)."""
    try:
        found = strict_json.parse(text, depth_max=depth_max)
    except NotStrictJson as not_json:
        raise _Unfit("; ".join(not_json.problems)) from None
    try:
        return _BY_TYPE[type_](found)
    except _Unfit:
        raise _Unfit(f"the text holds {got(found)}") from None
