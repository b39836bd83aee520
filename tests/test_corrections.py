"""A refusal teaches: following `try` as it stands is always accepted (contract §3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec import UNSET

from agentworks.contracts.refusal import Input
from agentworks.rules import strict_json
from agentworks.rules.arguments import admit, read_args
from agentworks.rules.conversion import convert
from agentworks.rules.corrections import correct
from agentworks.rules.definitions import function_problems
from tests.authored import functions, functions_and_calls

REVIEW = [
    Input(name="PR_NUMBER", type="integer", required=True, examples=[149]),
    Input(name="GITHUB_OWNER", type="string", required=True, default="runloop-works"),
    Input(name="GROUP", type="string", enum=["staging", "prod"]),
]


def corrected(inputs: list[Input], args: Any = UNSET) -> tuple[dict[str, Any], list[str]]:
    found = correct(inputs, args)
    assert admit(inputs, found.args).problems == []
    return found.args, found.placeholders


def one(value: Any, type_: str, **more: Any) -> tuple[Any, list[str]]:
    args, placeholders = corrected(
        [Input(name="X", type=type_, required=True, **more)], {"X": value}
    )
    return args["X"], placeholders


# ── the promise ──────────────────────────────────────────────────────────────────────────────


@settings(max_examples=500, deadline=None)
@given(functions_and_calls())
def test_following_try_as_it_stands_is_always_accepted(made: tuple[list[Input], Any]) -> None:
    inputs, args = made
    found = correct(inputs, args)
    assert admit(inputs, found.args).problems == []
    sent = strict_json.parse(json.dumps({"target": "x", "function": "f", "args": found.args}))
    assert admit(inputs, sent["args"]).problems == []


@settings(max_examples=150, deadline=None)
@given(functions_and_calls())
def test_what_was_right_is_kept_as_it_was_given(made: tuple[list[Input], Any]) -> None:
    inputs, args = made
    given = read_args(args)[0] or {}
    found = correct(inputs, args)
    for each in inputs:
        if each.name in given and not convert(given[each.name], each, "")[1]:
            assert repr(found.args[each.name]) == repr(given[each.name])
            assert f"args.{each.name}" not in found.placeholders
    if not admit(inputs, args).problems:
        assert (found.args, found.placeholders) == (given, [])


@settings(max_examples=100, deadline=None)
@given(functions())
def test_every_function_made_up_here_may_be_saved(inputs: list[Input]) -> None:
    assert function_problems("made_up", inputs) == []


# ── what is put right, and what is filled in ─────────────────────────────────────────────────


def test_a_missing_input_takes_its_first_example_and_is_a_placeholder() -> None:
    assert corrected(REVIEW) == ({"PR_NUMBER": 149}, ["args.PR_NUMBER"])


def test_a_wrong_choice_takes_a_right_one_and_is_a_placeholder() -> None:
    args, placeholders = corrected(REVIEW, {"PR_NUMBER": 7, "GROUP": "dev"})
    assert args == {"PR_NUMBER": 7, "GROUP": "staging"}
    assert placeholders == ["args.GROUP"]


def test_a_misspelt_name_keeps_its_value() -> None:
    for name in ("pr_number", "PRNUMBER", "PR_NUMBR", "pr-number"):
        assert corrected(REVIEW, {name: 7}) == ({"PR_NUMBER": 7}, [])


def test_a_misspelt_name_does_not_replace_what_was_given_right() -> None:
    assert corrected(REVIEW, {"PR_NUMBER": 7, "pr_number": 8}) == ({"PR_NUMBER": 7}, [])


def test_a_name_that_is_near_none_is_left_out() -> None:
    assert corrected(REVIEW, {"PR_NUMBER": 7, "colour": "red"}) == ({"PR_NUMBER": 7}, [])


def test_text_that_is_accepted_stays_text() -> None:
    assert corrected(REVIEW, {"PR_NUMBER": "149", "GROUP": "prod", "x": 1})[0] == {
        "PR_NUMBER": "149",
        "GROUP": "prod",
    }


@pytest.mark.parametrize("choice", ["Staging", " staging", "STAGING", "stag-ing"])
def test_a_choice_in_other_letters_is_put_right(choice: str) -> None:
    assert one(choice, "string", enum=["staging", "prod"]) == ("staging", [])


def test_a_choice_that_could_be_two_is_a_placeholder() -> None:
    assert one("PROD", "string", enum=["prod", "Prod"]) == ("prod", ["args.X"])


@pytest.mark.parametrize("text", [" 149", "149\n", "+149", "149.0", "1.49e2"])
def test_a_number_in_other_spelling_is_put_right(text: str) -> None:
    assert one(text, "integer") == (149, [])


@pytest.mark.parametrize(
    "text", ["0149", "0x95", "1_000", "1,000", "149.5", "-", "", "1e400", "NaN"]
)
def test_a_spelling_that_could_mean_several_numbers_is_a_placeholder(text: str) -> None:
    assert one(text, "integer") == (1, ["args.X"])


def test_fractions_and_booleans_in_other_spelling_are_put_right() -> None:
    assert one(".5", "number") == (0.5, [])
    assert one("5.", "number") == (5.0, [])
    assert one("TRUE", "boolean") == (True, [])
    assert one(" False ", "boolean") == (False, [])
    assert one("yes", "boolean") == (False, ["args.X"])
    assert one(1, "boolean") == (False, ["args.X"])


def test_a_number_for_a_text_is_put_right() -> None:
    assert one(10**30, "string") == (str(10**30), [])
    assert one(True, "string") == ("true", [])
    assert one(1.5, "string") == ("text", ["args.X"])


def test_text_of_text_is_unwrapped() -> None:
    assert one('"{\\"a\\":1}"', "object") == ({"a": 1}, [])
    assert one('"[1,2]"', "array") == ([1, 2], [])
    assert corrected(REVIEW, json.dumps(json.dumps({"PR_NUMBER": 7}))) == ({"PR_NUMBER": 7}, [])


def test_wrong_items_are_put_right_or_filled_one_by_one() -> None:
    items = {"type": "integer"}
    assert one([1, " 2", "x", 4], "array", items=items) == ([1, 2, 1, 4], ["args.X[2]"])
    assert one('[1, "x"]', "array", items=items) == ([1, 1], ["args.X[1]"])
    assert one(["x"] * 21, "array", items=items) == ([1], ["args.X"])


def test_null_is_left_out_where_it_may_be() -> None:
    limit = Input(name="LIMIT", type="integer", default=0)
    note = Input(name="NOTE", type="string", nullable=True)
    owner = Input(name="OWNER", type="string", required=True)
    assert corrected([limit, note, owner], {"LIMIT": None, "NOTE": None, "OWNER": None}) == (
        {"NOTE": None, "OWNER": "text"},
        ["args.OWNER"],
    )


def test_a_wrong_value_takes_the_default_when_there_is_one() -> None:
    assert one("x", "integer", default=0, examples=[5]) == (0, ["args.X"])


@pytest.mark.parametrize("args", [None, "", 5, [], "{", '{"PR_NUMBER":1,"PR_NUMBER":2}', "null"])
def test_unreadable_arguments_are_answered_with_a_whole_call(args: Any) -> None:
    assert corrected(REVIEW, args) == ({"PR_NUMBER": 149}, ["args.PR_NUMBER"])


def test_every_type_has_a_sample() -> None:
    types = ["string", "integer", "number", "boolean", "object", "array"]
    inputs = [Input(name=each, type=each, required=True) for each in types]
    args, placeholders = corrected(inputs)
    assert list(args) == types
    assert placeholders == [f"args.{each}" for each in types]


def test_a_sample_satisfies_enum_and_items_within_items() -> None:
    items = {"type": "array", "items": {"type": "string", "enum": ["a"]}}
    assert one(5, "array", items=items) == ([["a"]], ["args.X"])


def test_a_text_nests_no_deeper_than_the_call_may() -> None:
    deep = "[" * 61 + "]" * 61
    text = json.dumps(json.dumps({"type": deep}))  # an object encoded twice, 62 deep
    found, _ = one(text, "object")
    assert strict_json.parse(json.dumps({"args": {"X": found}}))
    nested = one([json.dumps(deep)], "array", items={"type": "array"})[0]
    assert strict_json.parse(json.dumps({"args": {"X": nested}}))


def test_an_unlimited_number_of_unknown_names_is_no_burden() -> None:
    args = {f"unknown_{index}": index for index in range(100_000)}
    assert corrected(REVIEW, args | {"PR_NUMBER": 1}) == ({"PR_NUMBER": 1}, [])
