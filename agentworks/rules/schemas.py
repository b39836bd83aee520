"""The result schemas authors save: a part of JSON Schema 2020-12 that can be trusted to end.

Contract §5: vetted when saved; references stay inside the schema, patterns do not run away. Left
out are keywords that reach elsewhere ($id, $anchor, $dynamicRef) or hide what a value may hold
(patternProperties, unevaluated…). `format` and the content… keywords describe and check nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from agentworks.rules import ambiguity, automata, patterns, strict_json
from agentworks.rules.conversion import got
from agentworks.rules.sentences import demand
from agentworks.rules.strict_json import NotStrictJson, child

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

SCHEMA_BYTES_MAX = 64 * 1024  # bytes of one schema, written as JSON
SCHEMA_DEPTH_MAX = 40  # nested arrays and objects in one schema
SUBSCHEMAS_MAX = 1_000  # schemas within one schema
CHECKS_PER_VALUE_MAX = 1_000  # schemas one value is held against before its members are looked at
PATTERNS_MAX = 50  # patterns in one schema
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PROBLEMS_MAX = 50  # problems told about one schema

Pointer: TypeAlias = tuple[str, ...]

#: Keywords that hold schemas: one, a list of them, or a map from names.
_ONE, _LIST, _MAP = "one", "list", "map"
_SAME_VALUE = {
    **dict.fromkeys(("not", "if", "then", "else"), _ONE),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _LIST),
    "dependentSchemas": _MAP,
}
_MEMBERS = {
    **dict.fromkeys(("items", "additionalProperties", "propertyNames", "contains"), _ONE),
    "prefixItems": _LIST,
    "properties": _MAP,
}
_HOLDS = {**_SAME_VALUE, **_MEMBERS, "$defs": _MAP, "definitions": _MAP}
_PLAIN = frozenset(
    "$schema $ref $comment title description default examples deprecated readOnly writeOnly format "
    "contentEncoding contentMediaType type enum const required dependentRequired minProperties "
    "maxProperties minItems maxItems uniqueItems minContains maxContains minLength maxLength "
    "pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)


class _Found(NamedTuple):
    """One schema within the schema: where, what, and which keyword it stands under."""

    pointer: Pointer
    at: str
    schema: Any
    keyword: str


def schema_problems(schema: Any, at: str = "result_schema") -> list[str]:
    """Everything that keeps `schema` from being saved, as `path: what`; at most 50 problems."""
    if not isinstance(schema, dict):
        return [f"{at}: must be an object (got {got(schema)})"]
    problems = json_problems(schema, at, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX)
    if problems:
        return problems
    found = list(_schemas_in(schema, at))
    if len(found) > SUBSCHEMAS_MAX:
        return [f"{at}: holds more than {SUBSCHEMAS_MAX:,} schemas"]
    problems = [
        *_unknown_keywords(found),
        *_dialect_problems(schema, at),
        *_pattern_problems(found, at),
        *_wrong_shapes(schema, at),
        *_reference_problems(found),
    ]
    return problems[:_PROBLEMS_MAX] or _endless(found, at)


def json_problems(value: Any, at: str, bytes_max: int, depth_max: int) -> list[str]:
    """Why an author's value, from a file or a request, is no JSON that we would read back."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return [f"{at}: holds something that is not JSON, such as a date"]
    if len(text) > bytes_max:
        return [f"{at}: has more than {bytes_max:,} bytes"]
    try:
        strict_json.parse(text, depth_max=depth_max, at=at)
    except NotStrictJson as not_json:
        return not_json.problems
    return []


def _schemas_in(schema: Any, at: str, pointer: Pointer = (), keyword: str = "") -> Iterator[_Found]:
    """This schema and all it holds; what has a wrong shape is left to `_wrong_shapes`."""
    if not isinstance(schema, (dict, bool)):
        return
    yield _Found(pointer, at, schema, keyword)
    for name, held in schema.items() if isinstance(schema, dict) else ():
        form = _HOLDS.get(name)
        inside, below = child(at, name), (*pointer, name)
        if form == _ONE:
            yield from _schemas_in(held, inside, below, name)
        else:
            for key, each in _entries(held, form):
                yield from _schemas_in(each, child(inside, key), (*below, str(key)), name)


def _entries(held: Any, form: str | None) -> Iterable[tuple[str | int, Any]]:
    if form == _LIST and isinstance(held, list):
        return enumerate(held)
    return held.items() if form == _MAP and isinstance(held, dict) else ()


def _unknown_keywords(found: list[_Found]) -> Iterator[str]:
    for each in found:
        if isinstance(each.schema, dict):
            for name in each.schema:
                if name not in _HOLDS and name not in _PLAIN:
                    yield f"{child(each.at, name)}: is not a keyword that result schemas may use"


def _dialect_problems(schema: dict[str, Any], at: str) -> Iterator[str]:
    if schema.get("$schema", DIALECT) not in (DIALECT, DIALECT + "#"):
        yield f"{child(at, '$schema')}: must be {DIALECT}"


def _pattern_problems(found: list[_Found], at: str) -> Iterator[str]:
    checked = 0
    for each in found:
        pattern = each.schema.get("pattern") if isinstance(each.schema, dict) else None
        if not isinstance(pattern, str):
            continue
        checked += 1
        if checked > PATTERNS_MAX:
            yield f"{at}: holds more than {PATTERNS_MAX} patterns"
            return
        problem = pattern_problem(pattern)
        if problem is not None:
            yield f"{each.at}.pattern: {got(pattern)} {problem}"


def pattern_problem(pattern: str) -> str | None:
    """Why `pattern` cannot be allowed, or None."""
    try:
        tree = patterns.read(pattern)
        automata.Automaton(tree, exact=True)
        return ambiguity.trouble(tree)
    except patterns.BadPattern as bad:
        return str(bad)


def _wrong_shapes(schema: dict[str, Any], at: str) -> Iterator[str]:
    """What the specification's own schema for schemas says: "minimum" is a number, and so on."""
    faults = _of_the_specification().iter_errors(schema)
    yield from dict.fromkeys(_shape_problem(each, at) for each in faults)  # it repeats itself


def _shape_problem(fault: ValidationError, at: str) -> str:
    if fault.context:  # alternatives, as for "type": a name or several
        return _shape_problem(fault.context[0], at)
    for key in fault.absolute_path:
        at = child(at, key)
    return (
        f"{at}: {demand(str(fault.validator), fault.validator_value)} (got {got(fault.instance)})"
    )


@lru_cache(maxsize=1)
def _of_the_specification() -> Draft202012Validator:
    """Loaded when the first schema is saved: the library takes its time."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(Draft202012Validator.META_SCHEMA)


# ── references and cycles ────────────────────────────────────────────────────────────────────


def _reference_problems(found: list[_Found]) -> Iterator[str]:
    known = {each.pointer for each in found}
    for each in found:
        reference = each.schema.get("$ref") if isinstance(each.schema, dict) else None
        if not isinstance(reference, str):
            continue
        if not reference.startswith("#"):
            yield f"{each.at}.$ref: {got(reference)} leaves this schema; only #/… is allowed"
        elif pointer_of(reference) not in known:
            yield f"{each.at}.$ref: {got(reference)} leads to no schema here"


def pointer_of(reference: str) -> Pointer | None:
    """RFC 6901 as a URI fragment: "#/$defs/a~1b" → ("$defs", "a/b")."""
    path = unquote(reference[1:])
    if path and not path.startswith("/"):
        return None
    return tuple(each.replace("~1", "/").replace("~0", "~") for each in path.split("/")[1:])


def _endless(found: list[_Found], at: str) -> list[str]:
    """Circles that never reach a member of the value, and fans that multiply before they do."""
    beside: dict[Pointer, list[Pointer]] = {each.pointer: [] for each in found}
    where = {each.pointer: each.at for each in found}
    for each in found:
        if each.keyword in _SAME_VALUE:
            parent = each.pointer[:-1] if _SAME_VALUE[each.keyword] == _ONE else each.pointer[:-2]
            beside[parent].append(each.pointer)
        if isinstance(each.schema, dict) and "$ref" in each.schema:
            target = pointer_of(each.schema["$ref"])
            if target is not None:
                beside[each.pointer].append(target)
    checks: dict[Pointer, int] = {}
    for start in beside:
        circle = _count_checks(start, beside, checks)
        if circle is not None:
            return [f"{where[circle]}: refers back to itself without going into the value"]
    if max(checks.values()) > CHECKS_PER_VALUE_MAX:
        return [f"{at}: holds one value against more than {CHECKS_PER_VALUE_MAX:,} schemas"]
    return []


def _count_checks(
    start: Pointer, beside: dict[Pointer, list[Pointer]], checks: dict[Pointer, int]
) -> Pointer | None:
    """Fill in `checks` for `start` and all it leads to; return a schema that lies on a circle."""
    under_way: set[Pointer] = set()
    waiting = [start]
    while waiting:
        here = waiting[-1]
        missing = [each for each in beside[here] if each not in checks]
        if here in checks or not missing:
            checks[here] = 1 + sum(checks[each] for each in beside[here])
            under_way.discard(here)
            waiting.pop()
        elif here in under_way:
            return here
        else:
            under_way.add(here)
            waiting += missing
    return None
