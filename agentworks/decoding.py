"""Turn what a caller sent into a typed request, or name every problem at once.

The fast way is one msgspec conversion. Only when that fails is each field looked at alone: text
that spells exactly one value of the declared type is taken for it (contract §5, "Lossless"),
everything else is a problem, and the corrected call keeps whatever was right.
"""

from __future__ import annotations

import difflib
from functools import lru_cache
from typing import Any, cast

import msgspec
from msgspec import Struct, inspect

from agentworks.contracts.operation import Operation, Request
from agentworks.contracts.refusal import Refuse
from agentworks.rules import refusals, strict_json
from agentworks.rules.wording import shown

_UNKNOWN_TOLD_MAX = 20  # unknown inputs named in one refusal
_UNKNOWN_LENGTH_MAX = 64  # characters of an unknown input that may be a misspelt one
_WHOLE_MAX = 2**53  # up to here every whole double is the integer that was meant (contract §5)

WORDS: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "an integer",
    inspect.BoolType: "true or false",
    inspect.ListType: "an array",
    inspect.DictType: "an object",
}
_EXACTLY: dict[type[inspect.Type], type] = {inspect.BoolType: bool, inspect.DictType: dict}
_SAMPLES: dict[type[inspect.Type], Any] = {
    inspect.StrType: "example",
    inspect.IntType: 1,
    inspect.BoolType: False,
    inspect.ListType: [],
    inspect.DictType: {},
}


class Field(Struct, frozen=True):
    """One input of an operation: its name, what it must be, and whether it may be left out."""

    name: str
    kind: inspect.Type
    required: bool


def request_of(operation: Operation[Request, Any], args: object) -> Request:
    """The typed request behind `args`: itself, decoded, or the refusal that came instead."""
    if isinstance(args, operation.request):
        return args
    if isinstance(args, Refuse):
        raise args
    return decode(operation, args)


def decode(operation: Operation[Request, Any], args: object) -> Request:
    """The typed request of `operation`. Raises Refuse(invalid_input) with every problem."""
    try:
        return msgspec.convert(args, operation.request)
    except msgspec.ValidationError:
        return cast(Request, decode_struct(operation.request, args))


def decode_struct(request: type[Struct], args: object) -> Struct:
    """As `decode`, for any request struct; the patient way, field by field."""
    if not isinstance(args, dict):
        raise refusals.invalid_input([f"the arguments must be an object (got {shown(args)})"])
    taken, problems = {}, []
    known = {field.name: field for field in fields(request)}
    strange = meanings(known, args)
    for name, value in args.items():
        if name in known:
            taken[name] = loosened(known[name].kind, value)
            problems += problem_with(known[name], taken[name])
        elif name in strange:
            problems.append(unknown(name, strange[name]))
    problems += more_unknown(len(args) - len(taken) - len(strange))
    problems += [
        f"{each.name} is required"
        for each in known.values()
        if each.required and each.name not in args
    ]
    if not problems:
        try:
            return msgspec.convert(taken, request)
        except msgspec.ValidationError as left:
            problems.append(str(left))
    raise refusals.invalid_input(problems, *corrected(known, strange, args, request))


@lru_cache(maxsize=256)
def fields(request: type[Struct]) -> tuple[Field, ...]:
    described = inspect.type_info(request)
    assert isinstance(described, inspect.StructType)
    return tuple(
        Field(each.encode_name, bare(each.type), each.required) for each in described.fields
    )


def bare(kind: inspect.Type) -> inspect.Type:
    """The declared type without its descriptions and without "may be left out"."""
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        meant = [bare(each) for each in kind.types if type(each).__name__ != "UnsetType"]
        return meant[0] if len(meant) == 1 else kind
    return kind


def loosened(kind: inspect.Type, value: Any) -> Any:
    """Text that is exactly one value of the declared type, as that value, and 149.0 as 149;
    anything else as it is."""
    if isinstance(value, float) and isinstance(kind, inspect.IntType):
        return int(value) if value.is_integer() and abs(value) <= _WHOLE_MAX else value
    if not isinstance(value, str):
        return value
    if isinstance(kind, inspect.IntType | inspect.BoolType | inspect.ListType | inspect.DictType):
        try:
            parsed = strict_json.parse(value)
        except strict_json.NotStrictJson:
            return value
        if isinstance(kind, inspect.IntType):
            exact = type(parsed) is int and str(parsed) == value
        elif isinstance(kind, inspect.BoolType):
            exact = type(parsed) is bool and value in ("true", "false")
        else:
            exact = isinstance(parsed, list if isinstance(kind, inspect.ListType) else dict)
        return parsed if exact else value
    return value


def problem_with(field: Field, value: Any) -> list[str]:
    """What is wrong with one value, in our words where we have them."""
    kind = field.kind
    if isinstance(kind, inspect.StrType) and isinstance(value, str):
        return text_problems(field.name, kind, value)
    if isinstance(kind, inspect.IntType) and type(value) is int:
        if kind.ge is not None and value < kind.ge:
            return [f"{field.name} must be at least {kind.ge} (got {shown(value)})"]
        if kind.le is not None and value > kind.le:
            return [f"{field.name} must be at most {kind.le} (got {shown(value)})"]
        return []
    if isinstance(kind, inspect.ListType) and isinstance(value, list):
        return list_problems(field.name, kind, value)
    if type(value) is _EXACTLY.get(type(kind)):
        return []
    if type(kind) in WORDS:
        return [f"{field.name} must be {WORDS[type(kind)]} (got {shown(value)})"]
    return []


def text_problems(name: str, kind: inspect.StrType, value: str) -> list[str]:
    size = len(value)
    if kind.min_length and size < kind.min_length:
        return [f"{name} must not be empty" if not size else f"{name} is too short"]
    if kind.max_length is not None and size > kind.max_length:
        return [f"{name} has {size:,} characters; at most {kind.max_length:,} are allowed"]
    if kind.pattern is not None:
        try:
            msgspec.convert(value, _matching(kind.pattern))
        except msgspec.ValidationError:
            pattern = kind.pattern.removesuffix(r"(?!\n)")
            return [f"{name} must match {pattern} (got {shown(value)})"]
    return []


@lru_cache(maxsize=64)
def _matching(pattern: str) -> Any:
    from typing import Annotated

    return Annotated[str, msgspec.Meta(pattern=pattern)]


def list_problems(name: str, kind: inspect.ListType, value: list[Any]) -> list[str]:
    if kind.min_length and len(value) < kind.min_length:
        return [f"{name} must hold at least {kind.min_length}"]
    if kind.max_length is not None and len(value) > kind.max_length:
        return [f"{name} holds {len(value):,}; at most {kind.max_length:,} are allowed"]
    item = bare(kind.item_type)
    found: list[str] = []
    for place, each in enumerate(value):
        if isinstance(item, inspect.EnumType):
            words = [member.value for member in item.cls]
            if each not in words:
                found.append(
                    f"{name}[{place}] must be one of {', '.join(words)} (got {shown(each)})"
                )
        else:
            found += problem_with(Field(f"{name}[{place}]", item, True), each)
    return found


def meanings(known: dict[str, Field], args: dict[str, Any]) -> dict[str, str | None]:
    """Each unknown input, and the known one it may mean; of very many only the first are told."""
    strange = [name for name in args if name not in known]
    return {name: nearest(name, list(known)) for name in strange[:_UNKNOWN_TOLD_MAX]}


def unknown(name: str, meant: str | None) -> str:
    return f"unknown input {shown(name)}" + (f"; did you mean {meant}?" if meant else "")


def more_unknown(count: int) -> list[str]:
    return [f"and {count:,} more unknown inputs"] if count else []


def nearest(name: str, known: list[str]) -> str | None:
    if len(name) > _UNKNOWN_LENGTH_MAX:
        return None
    close = difflib.get_close_matches(name.lower(), [each.lower() for each in known], 1, 0.6)
    return next((each for each in known if close and each.lower() == close[0]), None)


def corrected(
    known: dict[str, Field],
    strange: dict[str, str | None],
    args: dict[str, Any],
    request: type[Struct],
) -> tuple[dict[str, Any] | None, list[str]]:
    """The same call as it would be accepted, and the paths in it that only the caller knows.

    There is none when leaving out what is wrong would change what the call means.
    """
    kept: dict[str, Any] = {}
    for name, value in args.items():
        right = name if name in known else strange.get(name)
        if right is None or (right != name and right in args):
            continue
        mended = within_bounds(known[right].kind, loosened(known[right].kind, value))
        if not problem_with(known[right], mended):
            kept[right] = mended
        elif not known[right].required:
            return None, []
    missing = [field for field in known.values() if field.required and field.name not in kept]
    for field in missing:
        kept[field.name] = _SAMPLES.get(type(field.kind))
    try:
        msgspec.convert(kept, request)
    except msgspec.ValidationError:
        return None, []
    return kept, [field.name for field in missing]


def within_bounds(kind: inspect.Type, value: Any) -> Any:
    """An integer out of its bounds, at the nearest bound; anything else as it is."""
    if not isinstance(kind, inspect.IntType) or type(value) is not int:
        return value
    low = value if kind.ge is None else max(kind.ge, value)
    return low if kind.le is None else min(kind.le, low)
