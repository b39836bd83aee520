"""What an author saves is checked whole: no caller meets a function that cannot be called."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from msgspec import UNSET

from agentworks.contracts.refusal import Input
from agentworks.rules.definitions import function_problems


def problems(*inputs: Input, name: str = "review_pr", **more: Any) -> list[str]:
    return function_problems(name, inputs, **more)


def of(type_: str = "string", **more: Any) -> list[str]:
    """The problems of one input, without the path they share."""
    return [
        each.removeprefix("inputs[0]") for each in problems(Input(name="X", type=type_, **more))
    ]


# ── names ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["a", "review_pr", "a2", "x" * 64])
def test_a_function_name_is_taken(name: str) -> None:
    assert problems(name=name) == []


@pytest.mark.parametrize(
    "name", ["", "A", "_a", "2a", "a-b", "é", "a b", "x" * 65, "a\n"], ids=ascii
)
def test_a_wrong_function_name_is_refused(name: str) -> None:
    (problem,) = problems(name=name)
    assert problem.startswith("name must be a lower-case letter, then at most 63")


def test_ask_is_reserved() -> None:
    assert problems(name="ask") == ["name ask is built in; choose another"]


@pytest.mark.parametrize("name", ["X", "_x", "PR_NUMBER", "x" * 64])
def test_an_input_name_is_taken(name: str) -> None:
    assert problems(Input(name=name, type="string")) == []


@pytest.mark.parametrize("name", ["", "2x", "a-b", "é", "x y", "x" * 65, "X\n"], ids=ascii)
def test_a_wrong_input_name_is_refused(name: str) -> None:
    (problem,) = problems(Input(name=name, type="string"))
    assert problem.startswith("inputs[0].name must be a letter or _, then at most 63")


def test_input_names_are_unique_and_not_reserved() -> None:
    twice = [Input(name="X", type="string"), Input(name="X", type="integer")]
    assert problems(*twice) == ["inputs[1].name X is taken by an input before it"]
    group = Input(name="group", type="string")
    assert problems(group) == []
    assert problems(group, reserved_inputs=["group"]) == [
        "inputs[0].name group is reserved; choose another"
    ]


# ── types, choices, items ────────────────────────────────────────────────────────────────────


def test_only_the_six_types_exist() -> None:
    for type_ in ("string", "integer", "number", "boolean", "object", "array"):
        assert of(type_) == []
    assert of("int") == [
        '.type must be one of: string, integer, number, boolean, object, array (got "int")'
    ]


def test_choices_are_of_their_type_each_once_and_not_null() -> None:
    assert of("integer", enum=[1, 2]) == []
    assert of("integer", enum=[1, "2", True, None, 1.0]) == [
        '.enum[1] must not be written as text (got "2")',
        ".enum[2] must be an integer (got true)",
        ".enum[3] is null; write nullable instead",
        ".enum[4] 1.0 is there twice",
    ]
    assert of(enum=[]) == [".enum is empty: no value would ever fit"]
    assert of(enum=[str(index) for index in range(501)]) == [".enum has more than 500 choices"]


def test_items_say_in_the_same_words_what_an_array_holds() -> None:
    assert of("array", items={"type": "integer", "nullable": True, "description": "Ids"}) == []
    assert of("array", items={"type": "array", "items": {"type": "string", "enum": ["a"]}}) == []
    assert of("string", items={"type": "string"}) == [".items belongs to arrays only"]
    assert of("array", items=[]) == [".items must be an object (got an array of 0)"]
    assert of("array", items={}) == [".items lacks type"]
    assert of("array", items={"type": "array", "items": {"type": "x", "format": "y"}}) == [
        ".items.items.format is unknown; items may have type, nullable, description, enum, items"
    ]
    assert of("array", items={"type": 5, "enum": 1}) == [
        ".items.type must be a str (got 5)",
        ".items.enum must be a list (got 1)",
    ]
    assert of("array", items={"type": "string", "enum": [1]}) == [
        ".items.enum[0] must be a string (got 1)"
    ]


# ── defaults and examples (C26) ──────────────────────────────────────────────────────────────


def test_a_default_that_could_never_be_passed_is_refused() -> None:
    assert of(enum=["staging", "prod"], default="dev") == [
        '.default must be one of: staging, prod (got "dev")'
    ]
    assert of("integer", default="5") == ['.default must not be written as text (got "5")']
    assert of("boolean", default="true") == ['.default must not be written as text (got "true")']
    assert of("object", default="{}") == ['.default must not be written as text (got "{}")']
    assert of("integer", default=None) == [".default must be an integer (got null)"]
    assert of("array", items={"type": "integer"}, default=["1"]) == [
        ".default must not be written as text (got an array of 1)"
    ]


@pytest.mark.parametrize(
    ("type_", "default"),
    [("boolean", False), ("integer", 0), ("string", ""), ("array", []), ("object", {})],
)
def test_a_default_may_be_false_zero_or_empty(type_: str, default: Any) -> None:
    assert of(type_, default=default, required=True) == []


def test_null_may_be_the_default_of_what_is_nullable() -> None:
    assert of("integer", default=None, nullable=True, enum=[1]) == []
    assert of("integer", default=UNSET) == []


def test_examples_are_valid() -> None:
    assert of("integer", examples=[149, 1]) == []
    assert of("integer", examples=[149, "1", 1.5]) == [
        '.examples[1] must not be written as text (got "1")',
        ".examples[2] must be an integer (got 1.5)",
    ]
    assert of(examples=["x"] * 21) == [".examples has more than 20"]


# ── what is written in files may hold anything ───────────────────────────────────────────────


def test_a_value_that_is_no_json_is_refused() -> None:
    assert of("number", default=float("nan")) == [".default: NaN is not a JSON value"]
    assert of("string", default=date(2020, 1, 1)) == [
        ": holds something that is not JSON, such as a date"
    ]
    assert of("string", default="a\0b") == [".default: has a NUL character"]
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    assert of("array", default=deep) == [": nested deeper than 32 levels"]
    assert of("string", default="x" * 20_000) == [": has more than 16,384 bytes"]


def test_descriptions_are_text_of_some_length() -> None:
    long = Input(name="X", type="string", description="x" * 2001)
    assert problems(long, description="a\0b") == [
        "description has a NUL character",
        "inputs[0].description has more than 2,000 characters",
    ]


def test_there_are_at_most_64_inputs() -> None:
    many = [Input(name=f"X{index}", type="string") for index in range(65)]
    assert problems(*many[:64]) == []
    assert problems(*many) == ["inputs has 65; at most 64 are allowed"]


def test_all_problems_are_told_at_once_with_their_paths() -> None:
    found = problems(
        Input(name="1", type="strin"),
        Input(name="GROUP", type="string", enum=["staging"], default="dev", examples=["x"]),
        name="Ask",
        result_schema={"type": "strin"},
    )
    assert [each.split(" ")[0] for each in found] == [
        "name",
        "inputs[0].name",
        "inputs[0].type",
        "inputs[1].default",
        "inputs[1].examples[0]",
        "result_schema.type:",
    ]
