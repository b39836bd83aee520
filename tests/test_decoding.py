"""Decoding: from what was sent to a typed request, or everything that is wrong with it at once."""

from __future__ import annotations

import time
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from msgspec import UNSET, Meta, Struct, UnsetType

from agentworks import decoding
from agentworks.contracts.accounts import APPROVE_DEVICE
from agentworks.contracts.messages import READ, SEND, SEND_BATCH
from agentworks.contracts.operation import OUTSIDE, Operation, Scope
from agentworks.contracts.refusal import RefusalCode, Refuse, Refused
from tests.made_up import calls, json_values, judged, text_values


class Everything(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """One field of each kind an operation may declare."""

    text: Annotated[str, Meta(min_length=1, max_length=5)] = "x"
    word: Annotated[str, Meta(pattern="^[a-z]+$")] = "x"
    number: Annotated[int, Meta(ge=-5, le=10)] = 0
    big: int = 0
    flag: bool = False
    names: Annotated[list[Annotated[str, Meta(max_length=3)]], Meta(max_length=2)] = []
    scopes: list[Scope] = []
    numbers: list[int] = []
    table: dict[str, Any] = {}
    maybe: Annotated[int, Meta(ge=1)] | UnsetType = UNSET


class Needed(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    title: Annotated[str, Meta(max_length=20)]
    count: int
    flag: bool
    names: list[str]
    note: str = ""


def operation(request: type[Struct]) -> Operation[Any, Any]:
    return Operation(
        name="test.decode",
        about="Take everything.",
        request=request,
        answers=(Everything,),
        scope=None,
        offered_to=OUTSIDE,
    )


EVERYTHING, NEEDED = operation(Everything), operation(Needed)


def refused(declared: Operation[Any, Any], args: object) -> Refused:
    with pytest.raises(Refuse) as raised:
        decoding.decode(declared, args)
    assert raised.value.refused.code is RefusalCode.INVALID_INPUT
    return raised.value.refused


def taken(name: str, value: Any) -> Any:
    return getattr(decoding.decode(EVERYTHING, {name: value}), name)


# ── what is taken ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("text", "1", "1"),
        ("text", "null", "null"),
        ("text", "\U0001f600" * 5, "\U0001f600" * 5),
        ("number", 10, 10),
        ("number", "10", 10),
        ("number", "-5", -5),
        ("number", 7.0, 7),
        ("big", "9007199254740993", 9007199254740993),
        ("big", 10**30, 10**30),
        ("big", str(10**30), 10**30),
        ("big", 2.0**53, 2**53),
        ("big", -0.0, 0),
        ("flag", True, True),
        ("flag", "false", False),
        ("names", ["a", "b"], ["a", "b"]),
        ("names", '["a", "b"]', ["a", "b"]),
        ("names", "[]", []),
        ("scopes", ["read", "run"], [Scope.READ, Scope.RUN]),
        ("scopes", '["author"]', [Scope.AUTHOR]),
        ("table", {"a": [1, None]}, {"a": [1, None]}),
        ("table", '{"a": 1}', {"a": 1}),
        ("maybe", "3", 3),
    ],
    ids=repr,
)
def test_a_value_and_the_text_that_spells_exactly_it_are_the_same(
    name: str, value: Any, meant: Any
) -> None:
    found = taken(name, value)
    assert (found, type(found)) == (meant, type(meant))


# ── what is not ──────────────────────────────────────────────────────────────────────────────


NO_INTEGERS = ["", " 1", "1 ", *"+1 01 1.0 1e1 -0 0x1 1_0 \uff11 one".split()]
NO_INTEGERS_EITHER: list[Any] = [1.5, 2.0**53 + 2, -(2.0**60), True, None, [], [1], {}]


@pytest.mark.parametrize("value", [*NO_INTEGERS, *NO_INTEGERS_EITHER], ids=repr)
def test_what_spells_no_integer_exactly_is_no_integer(value: Any) -> None:
    (problem,) = refused(EVERYTHING, {"big": value}).problems
    assert problem.startswith("big must be an integer (got ")


@pytest.mark.parametrize(
    "value", ["True", "yes", "1", " true", "", 1, 0, 1.0, None, [], {}], ids=repr
)
def test_only_true_and_false_are_true_and_false(value: Any) -> None:
    (problem,) = refused(EVERYTHING, {"flag": value}).problems
    assert problem.startswith("flag must be true or false (got ")


@pytest.mark.parametrize("value", [1, 1.5, True, None, ["a"], {"a": 1}], ids=repr)
def test_nothing_becomes_text(value: Any) -> None:
    (problem,) = refused(EVERYTHING, {"text": value}).problems
    assert problem.startswith("text must be text (got ")


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("text", "", "text must not be empty"),
        ("text", "\U0001f600" * 6, "text has 6 characters; at most 5 are allowed"),
        ("word", "A", 'word must match ^[a-z]+$ (got "A")'),
        ("number", 11, "number must be at most 10 (got 11)"),
        ("number", "-6", "number must be at least -5 (got -6)"),
        ("number", 10**30, f"number must be at most 10 (got {10**30})"),
        ("maybe", 0, "maybe must be at least 1 (got 0)"),
        ("names", "a", 'names must be an array (got "a")'),
        ("names", '"a"', 'names must be an array (got "\\"a\\"")'),
        ("names", '["a"', 'names must be an array (got "[\\"a\\"")'),
        ("names", {}, "names must be an array (got {})"),
        ("names", ["a", "b", "c"], "names holds 3; at most 2 are allowed"),
        ("names", ["a", 1], "names[1] must be text (got 1)"),
        ("names", ["a", "long"], "names[1] has 4 characters; at most 3 are allowed"),
        ("numbers", [1, "2"], 'numbers[1] must be an integer (got "2")'),
        ("scopes", ["reed"], 'scopes[0] must be one of read, run, author (got "reed")'),
        ("scopes", [{}], "scopes[0] must be one of read, run, author (got {})"),
        ("table", [], "table must be an object (got [])"),
        ("table", '{"a": 1, "a": 2}', 'table must be an object (got "{\\"a\\": 1, \\"a\\": 2}")'),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(name: str, value: Any, problem: str) -> None:
    assert refused(EVERYTHING, {name: value}).problems == [problem]


@pytest.mark.parametrize("args", [None, [], "text", 1, True, [{"text": "x"}]], ids=repr)
def test_arguments_that_are_no_object_are_refused(args: object) -> None:
    assert refused(EVERYTHING, args).problems[0].startswith("the arguments must be an object (got ")


def test_everything_that_is_wrong_is_said_at_once() -> None:
    args = {"title": "x" * 21, "names": [1, 2], "nots": "?", "colour": "red", "flag": "maybe"}
    assert refused(NEEDED, args).problems == [
        "title has 21 characters; at most 20 are allowed",
        "names[0] must be text (got 1)",
        "names[1] must be text (got 2)",
        'unknown input "nots"; did you mean note?',
        'unknown input "colour"',
        'flag must be true or false (got "maybe")',
        "count is required",
    ]


# ── the corrected call ───────────────────────────────────────────────────────────────────────


def test_the_corrected_call_keeps_what_was_right_and_marks_what_only_the_caller_knows() -> None:
    found = refused(NEEDED, {"title": "Hi", "count": "7", "Nmaes": ["a"], "colour": "red"})
    assert found.try_ == {"title": "Hi", "count": 7, "names": ["a"], "flag": False}
    assert found.placeholders == ["flag"]


def test_a_number_out_of_bounds_is_corrected_to_the_nearest_bound() -> None:
    assert refused(EVERYTHING, {"number": 11, "text": "x"}).try_ == {"number": 10, "text": "x"}
    assert refused(EVERYTHING, {"number": -(10**30)}).try_ == {"number": -5}


def test_there_is_no_corrected_call_where_leaving_something_out_would_change_its_meaning() -> None:
    assert (
        refused(SEND, {"message": "x", "target": "agent:a", "agent_name": "no name"}).try_ is None
    )
    assert refused(SEND, {"message": "x", "target": "a", "submission_id": "s" * 129}).try_ is None


def test_a_misspelt_name_does_not_replace_the_right_one() -> None:
    found = refused(SEND, {"target": "agent:a", "taget": "agent:b", "message": "x"})
    assert found.try_ == {"target": "agent:a", "message": "x"}


def test_very_much_that_is_unknown_is_answered_briefly_and_at_once() -> None:
    began = time.monotonic()
    found = refused(READ, {"agent_name": "a"} | {f"agent_nam{n}": n for n in range(300_000)})
    assert len(found.problems) == 21
    assert found.problems[-1] == "and 299,980 more unknown inputs"
    assert refused(READ, {"agent_name" * 500_000: 1}).try_ == {}
    assert len(str(refused(SEND_BATCH, {"messages": {"x": [1] * 3_000_000}}).problems)) < 200
    assert time.monotonic() - began < 5


# ── for every operation ──────────────────────────────────────────────────────────────────────


@settings(max_examples=120, deadline=None)
@given(calls(json_values))
def test_whatever_is_sent_as_json_is_judged(call: tuple[Any, dict[str, Any]]) -> None:
    judged(*call)


@settings(max_examples=80, deadline=None)
@given(calls(text_values))
def test_whatever_stands_in_an_address_is_judged(call: tuple[Any, dict[str, Any]]) -> None:
    judged(*call)


def test_a_request_that_is_typed_already_is_taken_as_it_is() -> None:
    request = READ.request(agent_name="worker")
    assert decoding.request_of(READ, request) is request


def test_what_the_wire_refused_stays_refused() -> None:
    refusal = Refuse(Refused(RefusalCode.TOO_LARGE, ["too large"]))
    with pytest.raises(Refuse) as raised:
        decoding.request_of(APPROVE_DEVICE, refusal)
    assert raised.value is refusal
