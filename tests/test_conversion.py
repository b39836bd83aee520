"""One value by its declared type: converted only where nothing is lost (C22, C24, C30)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import json as wire

from agentworks.contracts.refusal import Input
from agentworks.rules import strict_json
from agentworks.rules.arguments import admit

NO_INTEGERS = [
    *["149.0", "1e2", "0x95", " 149", "149\n", "+149", "0149", "-0", "1_000", "", "true", "-"],
    *["\uff11\uff14\uff19", "\u0663", "1" * 4301, True, False, 149.5, None, 1e300, [], {}],
]
NO_NUMBERS = [
    *["NaN", "Infinity", "1e400", "1_0.5", ".5", "5.", "+1", " 1", "0x1", "", "1e-400", "01"],
    *["0.10000000000000000001", "\u0663", True, None, float("nan"), float("inf"), [], {}],
]


def taken(value: Any, type_: str, **more: Any) -> Any:
    """What a function receives for `value`."""
    admitted = admit([Input(name="X", type=type_, **more)], {"X": value})
    assert admitted.problems == []
    return admitted.args["X"]


def problems(value: Any, type_: str, **more: Any) -> list[str]:
    return admit([Input(name="X", type=type_, **more)], {"X": value}).problems


# ── objects and arrays (C22) ─────────────────────────────────────────────────────────────────


def test_object_and_array_text_is_read_where_that_type_is_declared() -> None:
    assert taken('{"a":1}', "object") == {"a": 1}
    assert taken("[1,2]", "array") == [1, 2]
    assert taken({"a": "[1]"}, "object") == {"a": "[1]"}
    assert taken('{"a":1}', "string") == '{"a":1}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{a:1}", "not JSON: Expecting property name enclosed in double quotes at line 1 column 2"),
        ("[1]", "the text holds an array of 1"),
        ('"{\\"a\\":1}"', 'the text holds "{\\"a\\":1}"'),
        ('{"a":1,"a":2}', 'the key "a" appears twice'),
        ('{"a":"\\u0000"}', "a: has a NUL character"),
        ("", "not JSON: empty"),
        ("null", "the text holds null"),
    ],
    ids=repr,
)
def test_other_text_is_refused_for_an_object(text: str, reason: str) -> None:
    assert problems(text, "object") == [f"X must be an object (got {json.dumps(text)}: {reason})"]


def test_a_long_text_is_read_and_a_wrong_one_shown_short() -> None:
    long = json.dumps({"a": "x" * 2_000_000})
    assert taken(long, "object") == {"a": "x" * 2_000_000}
    assert len(problems(long[:-1], "object")[0]) < 250


def test_text_may_nest_as_deep_as_json_may_at_that_place() -> None:
    assert taken("[" * 62 + "]" * 62, "array")
    assert "nested deeper than 62 levels" in problems("[" * 63 + "]" * 63, "array")[0]
    items = {"type": "array"}
    assert (
        "nested deeper than 61 levels" in problems(["[" * 62 + "]" * 62], "array", items=items)[0]
    )


def test_items_are_converted_like_inputs_and_each_wrong_one_is_named() -> None:
    items = {"type": "integer"}
    assert taken("[1, 2]", "array", items=items) == [1, 2]
    assert taken(["1", 2, 3.0], "array", items=items) == [1, 2, 3]
    assert problems([1, "x", None], "array", items=items) == [
        'X[1] must be an integer (got "x")',
        "X[2] must be an integer (got null)",
    ]
    assert problems([[1, True]], "array", items={"type": "array", "items": items}) == [
        "X[0][1] must be an integer (got true)"
    ]
    assert problems(["x"] * 1_000_000, "array", items=items)[5:] == ["X has more wrong items"]


# ── numbers and booleans (C24, C30) ──────────────────────────────────────────────────────────


@pytest.mark.parametrize("value", ["149", 149, 149.0], ids=repr)
def test_an_integer_is_taken(value: Any) -> None:
    assert repr(taken(value, "integer")) == "149"


@pytest.mark.parametrize("value", NO_INTEGERS, ids=lambda value: ascii(value)[:20])
def test_what_is_no_integer_is_refused(value: Any) -> None:
    (problem,) = problems(value, "integer")
    assert problem.startswith("X must be an integer (got ")


@pytest.mark.parametrize("number", [2**53 + 1, 2512292042121000001, 2**64, 10**30, -(10**30)])
def test_an_integer_keeps_all_its_digits_as_number_and_as_text(number: int) -> None:
    assert taken(number, "integer") == taken(str(number), "integer") == number
    sent = strict_json.parse(wire.encode({"X": number}))
    assert sent == {"X": number}


def test_a_whole_double_is_an_integer_up_to_two_to_the_53() -> None:
    assert taken(2.0**53, "integer") == 2**53
    assert problems(2.0**54, "integer") == [
        "X must be an integer (got 1.8014398509481984e+16: "
        "as a double it may be rounded; write all its digits)"
    ]


@pytest.mark.parametrize("value", [True, False, "true", "false"], ids=repr)
def test_a_boolean_is_taken(value: Any) -> None:
    assert taken(value, "boolean") is (value in (True, "true"))


@pytest.mark.parametrize(
    "value", ["True", "TRUE", "1", "0", "yes", "on", "", " true", 1, 0, 1.0, None, []], ids=repr
)
def test_what_is_no_boolean_is_refused(value: Any) -> None:
    (problem,) = problems(value, "boolean")
    assert problem.startswith("X must be a boolean (got ")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("0.1", 0.1),
        ("-3", -3),
        ("1e2", 100.0),
        ("1.50", 1.5),
        (str(10**30), 10**30),
        (2, 2),
        (0.5, 0.5),
    ],
    ids=repr,
)
def test_a_number_is_taken(value: Any, number: float) -> None:
    assert repr(taken(value, "number")) == repr(number)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=ascii)
def test_what_is_no_number_or_no_exact_one_is_refused(value: Any) -> None:
    (problem,) = problems(value, "number")
    assert problem.startswith("X must be a number (got ")


def test_text_is_never_converted_from_or_to_anything() -> None:
    assert taken("149", "string") == "149"
    assert taken("null", "string", nullable=True) == "null"
    assert problems(149, "string") == ["X must be a string (got 149)"]
    assert problems(True, "string") == ["X must be a string (got true)"]
    assert problems("a\0b", "string") == [
        'X must be a string (got "a\\u0000b": it has a NUL character)'
    ]
    assert "half of a surrogate pair" in problems("\ud800", "string")[0]
    assert "half of a surrogate pair" in problems(["\ud800"], "array", items={"type": "string"})[0]


def test_a_choice_is_compared_exactly_and_after_conversion() -> None:
    group = {"enum": ["staging", "prod"]}
    assert taken("prod", "string", **group) == "prod"
    for value in ("Staging", " staging", "", None, 1):
        assert problems(value, "string", **group) == [
            f"X must be one of: staging, prod (got {json.dumps(value)})"
        ]
    assert taken("2", "integer", enum=[1, 2]) == 2
    assert taken(1.0, "number", enum=[1]) == 1
    assert problems(True, "boolean", enum=[False]) == ["X must be one of: false (got true)"]
    assert taken('{"b":1,"a":2}', "object", enum=[{"a": 2, "b": 1}]) == {"a": 2, "b": 1}
