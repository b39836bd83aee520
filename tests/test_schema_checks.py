"""Results are checked against vetted schemas: strict JSON, all problems, bounded work."""

from __future__ import annotations

import json
import pickle
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from agentworks.rules import schema_checks
from agentworks.rules.results import result_problems, value_problems
from agentworks.rules.schema_checks import Meter
from agentworks.rules.schema_compiler import compiled
from agentworks.rules.schemas import schema_problems

FINDINGS = {
    "type": "object",
    "required": ["verdict", "findings"],
    "additionalProperties": False,
    "properties": {
        "verdict": {"enum": ["ok", "bad"]},
        "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
    },
    "$defs": {
        "finding": {
            "type": "object",
            "required": ["path"],
            "properties": {
                "path": {"type": "string", "pattern": "^[a-z./]+$"},
                "line": {"type": "integer", "minimum": 1},
                "within": {"$ref": "#/$defs/finding"},
            },
        }
    },
}


# ── results (C28, C30, C60) ──────────────────────────────────────────────────────────────────


def test_a_result_that_fits_is_returned_with_its_exact_value() -> None:
    raw = b'{"verdict":"ok","findings":[{"path":"a.py","line":9007199254740993}]}'
    value, problems = result_problems(FINDINGS, raw)
    assert (value["findings"][0]["line"], problems) == (2**53 + 1, [])


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "result: not JSON: empty"),
        (b"```json\n{}\n```", "result: not JSON: Expecting value at line 1 column 1"),
        (b'{"verdict":"ok"} Done.', "result: not JSON: text after the value at line 1 column 18"),
        (b"{}{}", "result: not JSON: text after the value at line 1 column 3"),
        ("{}".encode("utf-16"), "result: not valid UTF-8 at byte 0"),
        (b"\xef\xbb\xbf{}", "result: begins with a byte order mark; leave it out"),
        (b'{"verdict":"ok","verdict":"bad"}', 'result: the key "verdict" appears twice'),
    ],
    ids=repr,
)
def test_a_result_is_strict_json_and_nothing_else(raw: bytes, problem: str) -> None:
    assert result_problems(FINDINGS, raw) == (None, [problem])


def test_all_problems_of_a_result_are_told_with_their_paths() -> None:
    value = {
        "verdict": "maybe",
        "findings": [{"line": 0, "path": "A"}, {"path": 5, "within": {"line": "3"}}, []],
        "x": 1,
    }
    assert result_problems(FINDINGS, json.dumps(value).encode())[1] == [
        "result.x: must not be there (got 1)",
        'result.verdict: must be one of: ok, bad (got "maybe")',
        'result.findings[0].path: must match "^[a-z./]+$" (got "A")',
        "result.findings[0].line: must be at least 1 (got 0)",
        "result.findings[1].path: must be a string (got 5)",
        'result.findings[1].within: lacks "path"',
        'result.findings[1].within.line: must be an integer (got "3")',
        "result.findings[2]: must be an object (got an array of 0)",
    ]


def test_the_nearest_alternative_is_told() -> None:
    one = {"type": "object", "properties": {"kind": {"const": "a"}}}
    assert value_problems({"anyOf": [{"type": "null"}, one]}, {"kind": "b"}) == [
        'result: fits none of the alternatives; nearest is result.kind: must be "a" (got "b")'
    ]
    assert value_problems({"oneOf": [{}, one]}, {"kind": "a"}) == [
        "result: fits more than one of the alternatives (got an object)"
    ]


def test_additional_properties_are_those_that_properties_does_not_name() -> None:
    schema = {"properties": {"a": {"minimum": 1}}, "additionalProperties": {"type": "string"}}
    for value, fits in (({"a": 1, "b": "x"}, True), ({"a": 0}, False), ({"b": 1}, False)):
        assert compiled(schema).fits(value, Meter()) is fits
        assert bool(value_problems(schema, value)) is not fits


def test_a_flood_of_problems_ends() -> None:
    found = value_problems({"items": {"type": "string"}}, list(range(100_000)))
    assert len(found) == 51
    assert found[-1] == "and more of the kind"


def test_numbers_are_checked_as_they_are_written() -> None:
    assert value_problems({"multipleOf": 0.1}, 0.3) == []
    assert value_problems({"multipleOf": 0.01}, 10**400) == []
    assert value_problems({"multipleOf": 1e-300}, 1e300) == []
    assert value_problems({"type": "integer", "maximum": 2**53}, 2**53 + 1)
    assert value_problems({"enum": [1]}, True) == ["result: must be one of: 1 (got true)"]
    assert value_problems({"enum": [True, 0]}, True) == []
    assert value_problems({"const": True}, 1) == ["result: must be true (got 1)"]
    assert value_problems({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}]) == []
    assert value_problems({"uniqueItems": True}, [{"a": 1}, {"a": 1.0}])


def test_a_value_that_makes_alternatives_multiply_is_given_up(monkeypatch: Any) -> None:
    monkeypatch.setattr(schema_checks, "WORK_MAX", 10_000)
    tree: dict[str, Any] = {"anyOf": [{"properties": {"a": {"$ref": "#/$defs/t"}}}] * 4}
    schema = {"$defs": {"t": tree}, "$ref": "#/$defs/t"}
    assert schema_problems(schema) == []
    value: Any = 1
    for _ in range(40):
        value = {"a": value}
    assert value_problems(schema, value) == []
    schema["$defs"] = {"t": tree | {"type": "object"}}  # the leaf does not fit: all ways are tried
    assert value_problems(schema, value) == [
        "result: takes too much work to be checked against its schema"
    ]


def test_a_check_can_be_done_in_another_process() -> None:
    done = pickle.loads(pickle.dumps((result_problems, FINDINGS, b"[]")))
    assert done[0](*done[1:]) == result_problems(FINDINGS, b"[]")


# ── held against the general library ─────────────────────────────────────────────────────────

names = some.sampled_from(["a", "b", "c"])
leaves = some.sampled_from([None, True, False, 0, 1, 1.0, 2, 2.5, -1, "", "a", "ab", "b1", "é"])
values = some.recursive(
    leaves,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
counts = some.integers(0, 3)
numbers = some.sampled_from([-1, 0, 1, 1.5, 2, 2.5])
kinds = some.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])
plain_keywords = some.one_of(
    some.tuples(some.just("type"), kinds | some.lists(kinds, min_size=1, unique=True)),
    some.tuples(some.just("enum"), some.lists(values, min_size=1, max_size=3)),
    some.tuples(some.just("const"), values),
    some.tuples(
        some.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), numbers
    ),
    some.tuples(some.just("multipleOf"), some.sampled_from([1, 2, 0.5])),
    some.tuples(
        some.sampled_from(
            ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]
        ),
        counts,
    ),
    some.tuples(some.just("pattern"), some.sampled_from(["^a", "b", "^[ab]+$", "1$"])),
    some.tuples(some.just("uniqueItems"), some.booleans()),
    some.tuples(some.just("required"), some.lists(names, unique=True)),
    some.tuples(
        some.just("dependentRequired"), some.dictionaries(names, some.lists(names, unique=True))
    ),
    some.tuples(some.sampled_from(["minContains", "maxContains"]), counts),
    some.tuples(some.just("$ref"), some.just("#/$defs/d")),
)


def holding(inner: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    one = some.sampled_from(
        ["items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"]
    )
    several = some.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems"])
    mapped = some.sampled_from(["properties", "dependentSchemas"])
    holders = (
        some.tuples(one, inner)
        | some.tuples(several, some.lists(inner, min_size=1, max_size=3))
        | some.tuples(mapped, some.dictionaries(names, inner, max_size=2))
    )
    return some.lists(plain_keywords | holders, max_size=4).map(dict)


flat = some.lists(plain_keywords, max_size=3).map(dict) | some.booleans()
schemas = some.recursive(flat, holding, max_leaves=6)
inside = some.dictionaries(names, some.just({"$ref": "#/$defs/d"}), max_size=1)


@settings(max_examples=250, deadline=None)
@given(
    schemas.filter(lambda schema: isinstance(schema, dict)), inside, some.lists(values, max_size=4)
)
def test_a_value_fits_exactly_when_the_general_library_says_so(
    schema: dict[str, Any], inner: dict[str, Any], given_values: list[Any]
) -> None:
    whole = {**schema, "$defs": {"d": {"properties": inner, "maxProperties": 2}}}
    assert schema_problems(whole) == []
    library, check = jsonschema.Draft202012Validator(whole), compiled(whole)
    for value in given_values:
        problems = value_problems(whole, value)
        assert (problems == []) == library.is_valid(value), (whole, value, problems)
        assert check.fits(value, Meter()) == library.is_valid(value), (whole, value)
        assert all(each.startswith("result") for each in problems)
