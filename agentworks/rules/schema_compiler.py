"""From a vetted schema to its check: which keyword becomes which."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import NoneType
from typing import Any

from agentworks.rules import schema_keywords
from agentworks.rules.fingerprints import canonical
from agentworks.rules.matching import matcher
from agentworks.rules.schema_checks import EVERY, LIST, OBJECT, Check, Keyword, plain
from agentworks.rules.schemas import Pointer, pointer_of

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (NoneType,),
}
_TEXT, _NUMBER = (str,), (int, float)
_ANYTHING = Check()
_ANYTHING.fill([])


def compiled(schema: dict[str, Any]) -> Check:
    """The check that `schema`, which rules/schemas.py has found good, describes."""
    return _Compiler(schema).all_of_it()


class _Compiler:
    """Makes one check for each schema, once, however often it is referred to."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.made: dict[Pointer, Check] = {}
        self.waiting: list[Pointer] = []

    def all_of_it(self) -> Check:
        whole = self.check(())
        while self.waiting:
            pointer = self.waiting.pop()
            self.made[pointer].fill(self.keywords(pointer))
        return whole

    def check(self, pointer: Pointer) -> Check:
        if pointer not in self.made:
            self.made[pointer] = Check()
            self.waiting.append(pointer)
        return self.made[pointer]

    def keywords(self, pointer: Pointer) -> list[Keyword]:
        schema = self.root
        for token in pointer:
            schema = schema[int(token)] if isinstance(schema, list) else schema[token]
        if isinstance(schema, bool):
            return [] if schema else [plain("false", None, EVERY, lambda value: False)]
        here = _Here(self, pointer, schema)
        return [_MAKERS[name](here, wanted) for name, wanted in schema.items() if name in _MAKERS]


class _Here:
    """One schema while it is compiled, and the way to those it holds."""

    def __init__(self, compiler: _Compiler, pointer: Pointer, schema: dict[str, Any]) -> None:
        self.compiler = compiler
        self.pointer = pointer
        self.schema = schema

    def one(self, *names: str) -> Check:
        return self.compiler.check((*self.pointer, *names))

    def listed(self, name: str) -> list[Check]:
        return [self.one(name, str(index)) for index in range(len(self.schema[name]))]

    def mapped(self, name: str) -> dict[str, Check]:
        return {key: self.one(name, key) for key in self.schema[name]}

    def optional(self, name: str) -> Check:
        return self.one(name) if name in self.schema else _ANYTHING


def _reference(here: _Here, wanted: str) -> Keyword:
    return schema_keywords.every([here.compiler.check(pointer_of(wanted) or ())])


def _type(here: _Here, wanted: str | list[str]) -> Keyword:
    names = [wanted] if isinstance(wanted, str) else wanted
    fitting = {kind for name in names for kind in _TYPES[name]}
    whole_floats = "integer" in names  # 149.0 is an integer
    return plain(
        "type",
        wanted,
        tuple(kind for kind in EVERY if kind not in fitting),
        lambda value: whole_floats and isinstance(value, float) and value.is_integer(),
    )


def _among(keyword: str, wanted: Any, choices: list[Any]) -> Keyword:
    """JSON equality: 1 is 1.0, and true is not 1. Each type is looked up among its own."""
    texts = {each for each in choices if isinstance(each, str)}
    numbers = {each for each in choices if type(each) in _NUMBER}
    others = {canonical(each) for each in choices if type(each) not in (*_TEXT, *_NUMBER)}

    def test(value: Any) -> bool:
        if isinstance(value, str):
            return value in texts
        return value in numbers if type(value) in _NUMBER else canonical(value) in others

    return plain(keyword, wanted, EVERY, test)


def _pattern(here: _Here, wanted: str) -> Keyword:
    found_in = matcher(wanted).found_in
    tell = plain("pattern", wanted, _TEXT, lambda value: False).tell
    return Keyword(_TEXT, lambda value, meter: found_in(value, meter.take), tell)


def _multiple_of(here: _Here, wanted: Any) -> Keyword:
    step = _exact(wanted)
    return plain("multipleOf", wanted, _NUMBER, lambda value: _exact(value) % step == 0)


def _exact(number: int | float) -> Fraction:
    """The decimal as it was written: 0.3 is a multiple of 0.1."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _unique(here: _Here, wanted: bool) -> Keyword:
    def test(values: Any) -> bool:
        alike = set(map(type, values)) in ({str}, {int})
        return len(set(values if alike else map(canonical, values))) == len(values)

    return plain("uniqueItems", wanted, LIST if wanted else (), test)


def _length(keyword: str, types: tuple[type, ...], *, least: bool) -> Maker:
    def make(here: _Here, wanted: Any) -> Keyword:
        if least:
            return plain(keyword, wanted, types, lambda value: len(value) >= wanted)
        return plain(keyword, wanted, types, lambda value: len(value) <= wanted)

    return make


Maker = Callable[[_Here, Any], Keyword]
_MAKERS: dict[str, Maker] = {
    "$ref": _reference,
    "type": _type,
    "enum": lambda here, wanted: _among("enum", wanted, wanted),
    "const": lambda here, wanted: _among("const", wanted, [wanted]),
    "minimum": lambda here, least: plain("minimum", least, _NUMBER, lambda value: value >= least),
    "maximum": lambda here, most: plain("maximum", most, _NUMBER, lambda value: value <= most),
    "exclusiveMinimum": lambda here, edge: plain(
        "exclusiveMinimum", edge, _NUMBER, lambda value: value > edge
    ),
    "exclusiveMaximum": lambda here, edge: plain(
        "exclusiveMaximum", edge, _NUMBER, lambda value: value < edge
    ),
    "multipleOf": _multiple_of,
    "minLength": _length("minLength", _TEXT, least=True),
    "maxLength": _length("maxLength", _TEXT, least=False),
    "pattern": _pattern,
    "minItems": _length("minItems", LIST, least=True),
    "maxItems": _length("maxItems", LIST, least=False),
    "uniqueItems": _unique,
    "items": lambda here, _: schema_keywords.items(
        here.one("items"), len(here.schema.get("prefixItems", []))
    ),
    "prefixItems": lambda here, _: schema_keywords.prefix_items(here.listed("prefixItems")),
    "contains": lambda here, _: schema_keywords.contains(
        here.one("contains"), here.schema.get("minContains", 1), here.schema.get("maxContains")
    ),
    "minProperties": _length("minProperties", OBJECT, least=True),
    "maxProperties": _length("maxProperties", OBJECT, least=False),
    "required": lambda here, names: schema_keywords.required(names),
    "dependentRequired": lambda here, names: schema_keywords.dependent_required(names),
    "properties": lambda here, _: schema_keywords.properties(here.mapped("properties")),
    "additionalProperties": lambda here, _: schema_keywords.additional_properties(
        here.one("additionalProperties"), frozenset(here.schema.get("properties", {}))
    ),
    "propertyNames": lambda here, _: schema_keywords.property_names(here.one("propertyNames")),
    "dependentSchemas": lambda here, _: schema_keywords.dependent_schemas(
        here.mapped("dependentSchemas")
    ),
    "allOf": lambda here, _: schema_keywords.every(here.listed("allOf")),
    "anyOf": lambda here, checks: schema_keywords.alternatives(here.listed("anyOf"), len(checks)),
    "oneOf": lambda here, _: schema_keywords.alternatives(here.listed("oneOf"), 1),
    "not": lambda here, _: schema_keywords.negation(here.one("not")),
    "if": lambda here, _: schema_keywords.condition(
        here.one("if"), here.optional("then"), here.optional("else")
    ),
}
