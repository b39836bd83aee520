"""Result schemas are vetted when saved: every problem at once, each with its path."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from agentworks.rules.results import value_problems
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


def vetted(schema: Any) -> list[str]:
    return [each.removeprefix("result_schema") for each in schema_problems(schema)]


# ── what may be saved ────────────────────────────────────────────────────────────────────────


def test_a_schema_of_the_subset_may_be_saved() -> None:
    assert vetted(FINDINGS) == []
    assert vetted({}) == []
    assert vetted({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "T"}) == []


@pytest.mark.parametrize(
    ("schema", "problems"),
    [
        (True, [": must be an object (got true)"]),
        (
            {"type": "strin"},
            [
                ".type: must be one of: array, boolean, integer, null, number, object, string "
                '(got "strin")'
            ],
        ),
        (
            {"minimum": "5", "required": "x"},
            ['.minimum: must be a number (got "5")', '.required: must be an array (got "x")'],
        ),
        (
            {"properties": {"a b": {"maxItems": -1}}},
            ['.properties["a b"].maxItems: must be at least 0 (got -1)'],
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#"},
            ['["$schema"]: must be https://json-schema.org/draft/2020-12/schema'],
        ),
        (
            {"$id": "x", "patternProperties": {}},
            [
                '["$id"]: is not a keyword that result schemas may use',
                ".patternProperties: is not a keyword that result schemas may use",
            ],
        ),
        (
            {"items": {"pattern": "(a+)+$"}},
            [
                '.items.pattern: "(a+)+$" '
                "repeats something that can match the same text in several ways"
            ],
        ),
        ({"minimum": float("nan")}, [".minimum: NaN is not a JSON value"]),
        ({"default": date(2020, 1, 1)}, [": holds something that is not JSON, such as a date"]),
        ({"title": "a\0b"}, [".title: has a NUL character"]),
    ],
    ids=lambda value: str(value)[:30] if not isinstance(value, list) else "",
)
def test_what_may_not_be_saved_is_told_with_its_path(schema: Any, problems: list[str]) -> None:
    assert vetted(schema) == problems


@pytest.mark.parametrize(
    ("reference", "what"),
    [
        ("http://example.com/schema", "leaves this schema; only #/… is allowed"),
        ("other.json#/a", "leaves this schema; only #/… is allowed"),
        ("#/nowhere", "leads to no schema here"),
        ("#/properties", "leads to no schema here"),
        ("#/const", "leads to no schema here"),
        ("#anchor", "leads to no schema here"),
    ],
)
def test_references_lead_to_a_schema_within_the_schema(reference: str, what: str) -> None:
    schema = {"const": {}, "properties": {"a": {"$ref": reference}}}
    assert vetted(schema) == [f'.properties.a.$ref: "{reference}" {what}']


def test_references_are_pointers_with_their_escapes() -> None:
    schema = {"$defs": {"a/b~c d": {"type": "string"}}, "$ref": "#/$defs/a~1b~0c%20d"}
    assert vetted(schema) == []
    assert value_problems(schema, 5) == ["result: must be a string (got 5)"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"not": {"anyOf": [{}, {"$ref": "#"}]}},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"if": {"$ref": "#/$defs/a"}}}},
        {"dependentSchemas": {"x": {"$ref": "#"}}},
    ],
    ids=json.dumps,
)
def test_a_circle_that_never_goes_into_the_value_is_refused(schema: Any) -> None:
    (problem,) = vetted(schema)
    assert problem.endswith(": refers back to itself without going into the value")


def test_a_circle_through_the_members_of_a_value_is_a_tree() -> None:
    assert vetted({"properties": {"left": {"$ref": "#"}}, "items": {"$ref": "#"}}) == []


def test_a_schema_that_multiplies_is_refused() -> None:
    defs: dict[str, Any] = {
        f"d{index}": {"anyOf": [{"$ref": f"#/$defs/d{index + 1}"}] * 2} for index in range(30)
    }
    schema = {"$defs": {**defs, "d30": {}}, "$ref": "#/$defs/d0"}
    assert vetted(schema) == [": holds one value against more than 1,000 schemas"]


def test_a_schema_has_a_size_a_depth_and_a_number_of_parts() -> None:
    deep: dict[str, Any] = {}
    for _ in range(20):
        deep = {"properties": {"a": deep}}
    assert vetted(deep) == [": nested deeper than 40 levels"]
    assert vetted({"title": "x" * 70_000}) == [": has more than 65,536 bytes"]
    assert vetted({"allOf": [{}] * 1000}) == [": holds more than 1,000 schemas"]
    many = {"allOf": [{"pattern": f"^{index}$"} for index in range(51)]}
    assert vetted(many) == [": holds more than 50 patterns"]
