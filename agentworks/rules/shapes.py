"""JSON against a declared struct, whatever its depth: every misfit with its path, at once.

msgspec stops at the first misfit, and `decoding` looks at the flat inputs of an operation. What
authors write is nested, so it is walked here; text that merely spells a value is not taken for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct, inspect

from agentworks.rules.arguments import nearest
from agentworks.rules.conversion import bare, got
from agentworks.rules.strict_json import child, text_problem

UNKNOWN_TOLD_MAX = 20  # unknown fields named for one object

_WORDS: dict[type[inspect.Type], tuple[type, str]] = {
    inspect.StrType: (str, "text"),
    inspect.IntType: (int, "an integer"),
    inspect.BoolType: (bool, "true or false"),
    inspect.ListType: (list, "a list"),
    inspect.DictType: (dict, "an object"),
    inspect.StructType: (dict, "an object"),
}


def misfits(value: Any, declared: type[Struct], at: str = "") -> Iterator[str]:
    """Every way in which `value` is not a `declared`; nothing if msgspec would convert it.

    A field that the struct does not have is a misfit in every struct.
    """
    yield from _misfits(value, _described(declared), at)


def field_misfits(value: Any, declared: type[Struct], name: str, at: str = "") -> Iterator[str]:
    """The misfits of one field's value, at its own path."""
    yield from _misfits(value, _fields(declared)[name].type, child(at, name))


def names_of(declared: type[Struct]) -> tuple[str, ...]:
    """The names of its fields, as JSON has them."""
    return tuple(_fields(declared))


def frame_misfits(given: dict[str, Any], declared: type[Struct], at: str = "") -> Iterator[str]:
    """Fields that are missing or unknown, whatever the others hold."""
    known = _fields(declared)
    for name, each in known.items():
        if each.required and name not in given:
            yield f"{child(at, name)} is required"
    unknown = [name for name in given if name not in known]
    for name in unknown[:UNKNOWN_TOLD_MAX]:
        near = nearest(name, known)
        yield f"{child(at, name)} is unknown" + (f"; did you mean {near}?" if near else "")
    if len(unknown) > UNKNOWN_TOLD_MAX:
        yield f"and {len(unknown) - UNKNOWN_TOLD_MAX:,} more unknown fields" + (
            f" in {at}" if at else ""
        )


@lru_cache(maxsize=64)
def _described(declared: type[Struct]) -> inspect.StructType:
    described = inspect.type_info(declared)
    assert isinstance(described, inspect.StructType)
    return described


@lru_cache(maxsize=64)
def _fields(declared: type[Struct]) -> dict[str, inspect.Field]:
    return {each.encode_name: each for each in _described(declared).fields}


def _misfits(value: Any, kind: inspect.Type, at: str) -> Iterator[str]:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        yield from _union_misfits(value, kind, at)
    elif isinstance(kind, inspect.LiteralType):
        if not isinstance(value, str) or value not in kind.values:
            yield f"{at} must be one of: {', '.join(map(bare, kind.values))} (got {got(value)})"
    elif type(kind) in _WORDS:
        wanted, words = _WORDS[type(kind)]
        if type(value) is not wanted:
            yield f"{at or 'this'} must be {words} (got {got(value)})"
        else:
            yield from _inside(value, kind, at)


def _union_misfits(value: Any, kind: inspect.UnionType, at: str) -> Iterator[str]:
    """Our unions are one type, or that and null, or that and nothing at all."""
    if value is None and any(isinstance(each, inspect.NoneType) for each in kind.types):
        return
    meant = [
        each
        for each in kind.types
        if not isinstance(each, inspect.NoneType) and type(each).__name__ != "UnsetType"
    ]
    yield from _misfits(value, meant[0], at)


def _inside(value: Any, kind: inspect.Type, at: str) -> Iterator[str]:
    """A value of the right JSON type: its size, its fields, and all it holds."""
    if isinstance(kind, inspect.StrType):
        yield from _text_misfits(value, kind, at)
    elif isinstance(kind, inspect.ListType):
        yield from _size_misfits(len(value), kind.min_length, kind.max_length, at, "items")
    elif isinstance(kind, inspect.StructType):
        yield from frame_misfits(value, kind.cls, at)
    for key, each, declared in _held(value, kind):
        yield from _misfits(each, declared, child(at, key))


def _held(value: Any, kind: inspect.Type) -> Iterator[tuple[str | int, Any, inspect.Type]]:
    """What a list or an object holds: key, value and declared type of each."""
    if isinstance(kind, inspect.ListType):
        for place, each in enumerate(value[: kind.max_length]):
            yield place, each, kind.item_type
    elif isinstance(kind, inspect.DictType):
        for name, each in value.items():
            yield name, each, kind.value_type
    elif isinstance(kind, inspect.StructType):
        for name, declared in _fields(kind.cls).items():
            if name in value:
                yield name, value[name], declared.type


def _text_misfits(value: str, kind: inspect.StrType, at: str) -> Iterator[str]:
    yield from _size_misfits(len(value), kind.min_length, kind.max_length, at, "characters")
    problem = text_problem(value)
    if problem is not None:
        yield f"{at} {problem}"


def _size_misfits(
    size: int, low: int | None, high: int | None, at: str, what: str
) -> Iterator[str]:
    if low is not None and size < low:
        yield f"{at} must have at least {low:,} {what} (got {size:,})"
    if high is not None and size > high:
        yield f"{at} has {size:,} {what}; at most {high:,} are allowed"
