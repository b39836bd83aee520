"""The type of an input or of an answer's field, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import NODEFAULT, UNSET, Struct, inspect

from agentworks.contracts.refusal import Refused
from docs.printed.markdown import code

_UNBOUNDED = 2**53  # an upper bound from here on only keeps numbers exact
_WORDS: dict[type[inspect.Type], str] = {
    inspect.AnyType: "any value",
    inspect.BoolType: "true or false",
    inspect.DictType: "object",
    inspect.FloatType: "number",
    inspect.IntType: "integer",
    inspect.StrType: "text",
}


class Field(Struct, frozen=True):
    """One field of a struct, as a reader needs it. `default` is UNSET where there is none."""

    name: str
    kind: inspect.Type
    about: str
    items: type[Struct] | None  # what a loosely declared list holds
    required: bool
    default: Any


def fields(struct: type[Struct]) -> list[Field]:
    """The fields of a struct in their order, without the wrapping of their types."""
    described = inspect.type_info(struct)
    assert isinstance(described, inspect.StructType)
    return [_field(each) for each in described.fields]


def _field(each: inspect.Field) -> Field:
    kind, about, extra = each.type, "", dict[str, Any]()
    while isinstance(kind, inspect.Metadata):
        extra = {**(kind.extra or {}), **extra}
        about = about or (kind.extra_json_schema or {}).get("description", "")
        kind = kind.type
    default = UNSET if each.default is NODEFAULT else each.default
    return Field(each.encode_name, kind, about, extra.get("items"), each.required, default)


def described(kind: inspect.Type) -> str:
    """What a value of this type is, with its bounds; structs are named and linked on the page."""
    match kind:
        case inspect.Metadata(type=inner):
            return described(inner)
        case inspect.UnionType(types=several):
            meant = [each for each in several if not absent(each)]
            return " or ".join(map(described, meant))
        case inspect.ListType(item_type=item):
            size = span(kind.min_length, kind.max_length)
            return (
                f"list of {size}, each {described(item)}" if size else f"list of {described(item)}"
            )
        case inspect.EnumType() | inspect.LiteralType():
            return choice(kind)
        case inspect.StructType(cls=cls):
            return f"[{cls.__name__}](#{cls.__name__.lower()})"
        case inspect.StrType() | inspect.IntType():
            return ", ".join([_WORDS[type(kind)], *bounds(kind)])
    return _WORDS.get(type(kind), type(kind).__name__)


def absent(kind: inspect.Type) -> bool:
    """True for the part of a union that says "may be left out"."""
    return isinstance(kind, inspect.NoneType) or type(kind).__name__ == "UnsetType"


def bounds(kind: inspect.StrType | inspect.IntType) -> Iterator[str]:
    if isinstance(kind, inspect.IntType):
        if size := span(kind.ge, kind.le):
            yield size
        return
    if size := span(kind.min_length, kind.max_length):
        yield f"{size} characters"
    if kind.pattern:
        yield code(kind.pattern.removesuffix(r"(?!\n)"))


def span(low: int | None, high: int | None) -> str:
    if high is not None and high >= _UNBOUNDED:
        high = None
    if low is None:
        return "" if high is None else f"at most {high:,}"
    return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"


def choice(kind: inspect.EnumType | inspect.LiteralType) -> str:
    values = (
        kind.values if isinstance(kind, inspect.LiteralType) else [each.value for each in kind.cls]
    )
    found = [code(str(value)) for value in values]
    return found[0] if len(found) == 1 else f"one of {', '.join(found)}"


def nested(kind: inspect.Type) -> Iterator[type[Struct]]:
    """The structs inside a type, outermost first. A refusal has a page of its own."""
    match kind:
        case inspect.StructType(cls=cls):
            yield cls
            for each in kind.fields if cls is not Refused else ():
                yield from nested(each.type)
        case inspect.Metadata(type=inner) | inspect.ListType(item_type=inner):
            yield from nested(inner)
        case inspect.DictType(value_type=inner):
            yield from nested(inner)
        case inspect.UnionType(types=several):
            for inner in several:
                yield from nested(inner)


def default_of(each: Field) -> str:
    """What happens when an input is left out."""
    if each.required:
        return "required"
    if each.default is UNSET or each.default is None:
        return "optional"
    return code(msgspec.json.encode(each.default).decode())
