"""The arguments of a call: read, defaulted, converted and checked; every problem at once.

Contract §5 "Inputs": parse → defaults for absent inputs → lossless conversion by declared type
→ validation. Nothing is dropped in silence: a typo must not fall back to a saved value ([S4]).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct

from agentworks.contracts.refusal import Input
from agentworks.rules import strict_json
from agentworks.rules.conversion import convert, got
from agentworks.rules.fingerprints import fingerprint
from agentworks.rules.limits import JSON_DEPTH_MAX
from agentworks.rules.strict_json import NotStrictJson

UNKNOWN_NAMES_TOLD_MAX = 20  # unknown inputs named in one refusal
_NAME_LENGTH_MAX = 64  # characters of an input's name
_NEAR_SHARE = 3  # a name is near when at most one character in three differs


class Admitted(Struct, frozen=True, kw_only=True):
    """Arguments as a function will receive them, when `problems` is empty.

    `as_given` and `as_converted` are the two fingerprints of contract §5 "Idempotency": of what
    the caller sent, and of that after conversion and before defaults. A retry is recognised by
    either, so it may cross a moved default or arrive as text where the first try was JSON.
    """

    args: dict[str, Any]
    problems: list[str]
    given: Any  # as the caller sent it; UNSET for none
    converted: Any  # after conversion, before defaults

    @property
    def as_given(self) -> str:
        return as_given(self.given)

    @property
    def as_converted(self) -> str:
        return as_given(self.converted)


def admit(inputs: Sequence[Input], args: Any = UNSET) -> Admitted:
    """Judge `args` (an object, the JSON text of one, or UNSET for none) by the declared inputs.

    Raises nothing; `args` may be any value that strict_json reads.
    """
    given, unreadable = read_args(args)
    if given is None:
        return Admitted(args={}, problems=unreadable, given=args, converted=args)
    taken, converted, problems = {}, dict(given), []
    for declared in inputs:
        if declared.name in given:
            value, found = convert(given[declared.name], declared, declared.name)
            converted[declared.name] = value
        elif declared.default is not UNSET:
            value, found = convert(declared.default, declared, declared.name)
        elif declared.required:
            problems.append(f"missing required input {declared.name}")
            continue
        else:
            continue
        taken[declared.name] = value
        problems += found
    return Admitted(
        args=taken,
        problems=problems + _unknown_names(inputs, given),
        given=args,
        converted=converted,
    )


def as_given(args: Any = UNSET) -> str:
    """The fingerprint of arguments as they came; needs no definition, and takes any value."""
    return fingerprint({} if args is UNSET else args)


def read_args(args: Any = UNSET) -> tuple[dict[str, Any] | None, list[str]]:
    """The arguments as an object, or None and why they cannot be read as one (C22)."""
    if args is UNSET:
        return {}, []
    if isinstance(args, dict):
        return args, []
    if not isinstance(args, str):
        return None, [f"args must be an object (got {got(args)})"]
    try:
        found = strict_json.parse(args, depth_max=JSON_DEPTH_MAX - 1, at="args")
    except NotStrictJson as not_json:
        return None, not_json.problems
    if not isinstance(found, dict):
        return None, [f"args must be an object (got text that holds {got(found)})"]
    return found, []


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, or None.

    The same letters and digits win; else the fewest edits, if at most a third of the name.
    """
    if len(name) > 2 * _NAME_LENGTH_MAX:
        return None
    best, fewest = None, 0
    for each in known:
        if same_letters(each, name):
            return each
        edits = _edits(name.lower(), each.lower())
        if edits <= max(len(name), len(each)) // _NEAR_SHARE and (best is None or edits < fewest):
            best, fewest = each, edits
    return best


def unknown_names(inputs: Sequence[Input], given: Mapping[str, Any]) -> list[str]:
    """The names in `given` that no input has, in the order given."""
    known = {each.name for each in inputs}
    return [name for name in given if name not in known]


def _unknown_names(inputs: Sequence[Input], given: Mapping[str, Any]) -> list[str]:
    unknown = unknown_names(inputs, given)
    problems = []
    for name in unknown[:UNKNOWN_NAMES_TOLD_MAX]:
        near = nearest(name, [each.name for each in inputs])
        problems.append(
            f"unknown input {_named(name)}" + (f"; did you mean {near}?" if near else "")
        )
    more = len(unknown) - len(problems)
    return [*problems, f"and {more} more unknown inputs"] if more > 0 else problems


def _named(name: str) -> str:
    return name if name.isidentifier() and name.isascii() and len(name) < 65 else got(name)


def same_letters(one: str, other: str) -> bool:
    """True when two words differ only in case, blanks and punctuation."""
    letters = _letters(one)
    return letters == _letters(other) if letters else one == other


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _edits(one: str, other: str) -> int:
    """Characters to put in, take out, replace or swap with a neighbour (optimal alignment)."""
    rows = [list(range(len(other) + 1))]
    for index, left in enumerate(one, 1):
        above = rows[-1]
        row = [index]
        for column, right in enumerate(other, 1):
            fewest = min(above[column] + 1, row[-1] + 1, above[column - 1] + (left != right))
            if index > 1 and column > 1 and left == other[column - 2] and right == one[index - 2]:
                fewest = min(fewest, rows[-2][column - 2] + 1)
            row.append(fewest)
        rows.append(row)
    return rows[-1][-1]
