"""From a wrong call to the call that would have worked: the arguments of `try` (contract §3).

What was right stays as it was given; what is unambiguous is put right; the rest is filled with
something valid, and named as a placeholder. Following `try` as it stands is always accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct

from agentworks.contracts.refusal import Input
from agentworks.rules import strict_json
from agentworks.rules.arguments import (
    UNKNOWN_NAMES_TOLD_MAX,
    nearest,
    read_args,
    same_letters,
    unknown_names,
)
from agentworks.rules.conversion import VALUE_DEPTH_MAX, convert, items_of
from agentworks.rules.strict_json import NotStrictJson

_ITEMS_FILLED_MAX = 20  # wrong items replaced one by one; beyond, the array as a whole
_SAMPLES: dict[str, Any] = {
    "string": "text",
    "integer": 1,
    "number": 1,
    "boolean": False,
    "object": {},
}
_ANY_NUMBER = Input(name="", type="number")


class Correction(Struct, frozen=True):
    """`args` would be accepted; the true values at `placeholders` only the caller knows."""

    args: dict[str, Any]
    placeholders: list[str]  # paths: "args.PR_NUMBER", "args.IDS[1]"


def correct(inputs: Sequence[Input], args: Any = UNSET) -> Correction:
    """The nearest acceptable arguments to `args`, in the order the inputs are declared."""
    meant = _under_known_names(inputs, _readable(args))
    corrected: dict[str, Any] = {}
    placeholders: list[str] = []
    for declared in inputs:
        name, at = declared.name, f"args.{declared.name}"
        may_be_absent = not declared.required or declared.default is not UNSET
        if name in meant and not (meant[name] is None and may_be_absent and not declared.nullable):
            corrected[name], filled = mend(meant[name], declared, at)
            placeholders += filled
        elif not may_be_absent:
            corrected[name] = filler(declared)
            placeholders.append(at)
    return Correction(corrected, placeholders)


def mend(value: Any, declared: Input, at: str) -> tuple[Any, list[str]]:
    """`value` if it fits, else the nearest value that does, and the paths that were filled in."""
    if not convert(value, declared, at)[1]:
        return value, []
    for candidate in _readings(value, declared):
        fitting, problems = convert(candidate, declared, at)
        if not problems:
            return fitting, []
    if declared.type == "array" and declared.items is not None:
        mended = _mend_items(value, declared, at)
        if mended is not None:
            return mended
    return filler(declared), [at]


def filler(declared: Input) -> Any:
    """A valid value: the default, the first example, the first choice, or a plain sample."""
    authored = [] if declared.default is UNSET else [declared.default]
    authored += [*(declared.examples or [])[:1], *(declared.enum or [])[:1]]
    for each in authored:
        if not convert(each, declared, "")[1]:
            return each
    if declared.type == "array":
        return [] if declared.items is None else [filler(items_of(declared))]
    return _SAMPLES[declared.type]


def _readable(args: Any) -> dict[str, Any]:
    given = read_args(args)[0]
    if given is None:  # an object encoded twice is still one object
        given = read_args(_decoded(args))[0]
    return given or {}


def _under_known_names(inputs: Sequence[Input], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values by declared name; a misspelt name yields its value to the input it was meant for."""
    known = [each.name for each in inputs]
    meant = {name: given[name] for name in known if name in given}
    for name in unknown_names(inputs, given)[:UNKNOWN_NAMES_TOLD_MAX]:
        near = nearest(name, known)
        if near is not None and near not in meant:
            meant[near] = given[name]
    return meant


def _mend_items(value: Any, declared: Input, at: str) -> tuple[list[Any], list[str]] | None:
    items = _decoded(value) if isinstance(value, str) else value
    if not isinstance(items, list):
        return None
    rule, mended, filled = items_of(declared), [], []
    for index, each in enumerate(items):
        item, added = mend(each, rule, f"{at}[{index}]")
        mended.append(item)
        filled += added
        if len(filled) > _ITEMS_FILLED_MAX:
            return None
    return None if convert(mended, declared, at)[1] else (mended, filled)


# ── what else a wrong value can only have meant ──────────────────────────────────────────────


def _readings(value: Any, declared: Input) -> Iterator[Any]:
    """Values that `value` may be read as by a person, though not by the lossless rule."""
    if isinstance(value, str):
        choices = [each for each in declared.enum or [] if isinstance(each, str)]
        alike = [each for each in choices if same_letters(each, value)]
        if len(alike) == 1:
            yield alike[0]
        yield from _text_readings(value, declared.type)
    elif declared.type == "string" and isinstance(value, (bool, int)):
        yield str(value).lower()


def _text_readings(text: str, type_: str) -> Iterator[Any]:
    if type_ in ("integer", "number"):
        number, problems = convert(_as_json_number(text), _ANY_NUMBER, "")
        if not problems:
            yield number
    elif type_ == "boolean":
        yield text.strip().lower()
    elif type_ in ("object", "array"):
        yield _decoded(text)


def _as_json_number(text: str) -> str:
    """ " +.5 " → "0.5": what people write and JSON's grammar does not know."""
    bare = text.strip().removeprefix("+")
    if bare.startswith("."):
        bare = f"0{bare}"
    return f"{bare}0" if bare.endswith(".") else bare


def _decoded(text: Any) -> Any:
    """What a JSON text holds; None if it holds nothing readable."""
    if not isinstance(text, str):
        return None
    try:
        return strict_json.parse(text, depth_max=VALUE_DEPTH_MAX)
    except NotStrictJson:
        return None
