"""Arguments as a whole: read, defaulted, every problem told at once (contract §5, C22, C26)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from msgspec import UNSET
from msgspec import json as wire

from agentworks.contracts.refusal import Input
from agentworks.rules.arguments import admit, as_given, nearest
from agentworks.rules.fingerprints import fingerprint, same
from agentworks.rules.signatures import help_for, signature
from tests.authored import functions_and_calls

REVIEW = [
    Input(name="PR_NUMBER", type="integer", required=True, description="Pull request number"),
    Input(name="GITHUB_OWNER", type="string", required=True, default="runloop-works"),
    Input(name="GROUP", type="string", enum=["staging", "prod"]),
]
DEFAULTS = [
    Input(name="DRY_RUN", type="boolean", default=True),
    Input(name="LIMIT", type="integer", default=0),
    Input(name="NOTE", type="string", default=""),
    Input(name="GROUP", type="string", enum=["staging", "prod"], default="staging"),
    Input(name="OWNER", type="string", required=True, default="runloop-works"),
]


# ── args as a whole (C22) ────────────────────────────────────────────────────────────────────


def test_args_may_be_an_object_or_its_text() -> None:
    for args in ({"PR_NUMBER": 149}, '{"PR_NUMBER":149}', ' {"PR_NUMBER": "149"}\n'):
        assert admit(REVIEW, args).args == {"PR_NUMBER": 149, "GITHUB_OWNER": "runloop-works"}


def test_absent_args_are_an_empty_object() -> None:
    inputs = [Input(name="X", type="integer", default=1)]
    assert admit(inputs).args == admit(inputs, {}).args == admit(inputs, "{}").args == {"X": 1}


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (None, "args must be an object (got null)"),
        ("", "args: not JSON: empty"),
        ("null", "args must be an object (got text that holds null)"),
        ([], "args must be an object (got an array of 0)"),
        (5, "args must be an object (got 5)"),
        ("[1]", "args must be an object (got text that holds an array of 1)"),
        ('"{}"', 'args must be an object (got text that holds "{}")'),
        ('{"X":1,"X":2}', 'args: the key "X" appears twice'),
        (
            "{X:1}",
            "args: not JSON: Expecting property name enclosed in double quotes at line 1 column 2",
        ),
    ],
    ids=repr,
)
def test_unreadable_args_are_refused_and_never_taken_for_none(args: Any, problem: str) -> None:
    admitted = admit([Input(name="X", type="integer", default=1)], args)
    assert (admitted.args, admitted.problems) == ({}, [problem])


# ── defaults and null (C26) ──────────────────────────────────────────────────────────────────


def test_absent_inputs_take_their_defaults_false_zero_and_empty_too() -> None:
    assert admit(DEFAULTS).args == {
        "DRY_RUN": True,
        "LIMIT": 0,
        "NOTE": "",
        "GROUP": "staging",
        "OWNER": "runloop-works",
    }
    assert admit([Input(name="X", type="integer", nullable=True, default=None)]).args == {"X": None}
    assert admit([Input(name="X", type="integer")]).args == {}


def test_an_explicit_value_wins() -> None:
    args = admit(DEFAULTS, {"DRY_RUN": False, "OWNER": "", "LIMIT": 5}).args
    assert (args["DRY_RUN"], args["OWNER"], args["LIMIT"]) == (False, "", 5)


def test_null_is_explicit_refused_unless_nullable_and_never_the_default() -> None:
    assert admit(DEFAULTS, {"LIMIT": None, "OWNER": None}).problems == [
        "LIMIT must be an integer (got null)",
        "OWNER must be a string (got null)",
    ]
    nullable = Input(name="X", type="integer", nullable=True, default=5, enum=[1, 5])
    assert admit([nullable], {"X": None}).args == {"X": None}


def test_null_as_a_default_is_told_apart_from_none_on_the_wire() -> None:
    for default in (None, False, 0, "", UNSET):
        sent = wire.encode(Input(name="X", type="string", default=default))
        assert wire.decode(sent, type=Input).default is default or default == ""
        assert (b'"default"' in sent) is (default is not UNSET)


# ── names, and all problems at once ──────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["Group", "GROUPS", "group", "GRUOP", "GROP"])
def test_an_unknown_name_is_refused_with_the_nearest(name: str) -> None:
    assert admit(DEFAULTS, {name: "prod"}).problems == [
        f"unknown input {name}; did you mean GROUP?"
    ]


def test_a_name_near_none_is_refused_without_a_guess() -> None:
    assert admit(DEFAULTS, {"colour": 1}).problems == ["unknown input colour"]
    assert admit(DEFAULTS, {'a "b"': 1}).problems == ['unknown input "a \\"b\\""']
    assert nearest("B", ["A"]) is None
    assert nearest("__", ["_"]) is None
    assert nearest("x" * 1_000_000, ["x"]) is None
    assert nearest("pr number", ["PR", "PR_NUMBER"]) == "PR_NUMBER"


def test_all_problems_are_told_at_once_in_the_order_of_the_inputs() -> None:
    assert admit(REVIEW, {"GROUP": "dev", "GITHUB_OWNER": 5, "PRNUMBER": 149}).problems == [
        "missing required input PR_NUMBER",
        "GITHUB_OWNER must be a string (got 5)",
        'GROUP must be one of: staging, prod (got "dev")',
        "unknown input PRNUMBER; did you mean PR_NUMBER?",
    ]


def test_a_flood_of_unknown_names_is_counted() -> None:
    found = admit(REVIEW, {"PR_NUMBER": 1} | {f"unknown_{index}": 1 for index in range(50_000)})
    assert len(found.problems) == 21
    assert found.problems[-1] == "and 49980 more unknown inputs"


@settings(max_examples=150, deadline=None)
@given(functions_and_calls())
def test_whatever_is_sent_is_taken_whole_or_refused(made: tuple[list[Input], Any]) -> None:
    inputs, args = made
    admitted = admit(inputs, args)
    if admitted.problems:
        assert all(each.isprintable() for each in admitted.problems)
    else:
        again = admit(inputs, admitted.args)
        assert (again.args, again.problems) == (admitted.args, [])
        assert set(admitted.args) <= {each.name for each in inputs}
    assert admitted.as_given == as_given(args)


# ── fingerprints (contract §5 "Idempotency") ─────────────────────────────────────────────────


def test_the_same_arguments_in_another_order_have_the_same_fingerprint() -> None:
    one, other = admit(REVIEW, {"PR_NUMBER": 7, "GROUP": "prod"}), {"GROUP": "prod", "PR_NUMBER": 7}
    assert one.as_given == as_given(other)
    assert one.as_given != as_given(other | {"PR_NUMBER": 8})
    assert as_given() == as_given({}) != as_given(None)


def test_a_retry_in_another_spelling_is_recognised_after_conversion() -> None:
    forms: list[Any] = [{"PR_NUMBER": 149}, {"PR_NUMBER": "149"}, {"PR_NUMBER": 149.0}]
    forms.append('{"PR_NUMBER":149}')
    found = [admit(REVIEW, form) for form in forms]
    assert len({each.as_converted for each in found}) == 1
    assert len({each.as_given for each in found}) == 3  # 149.0 and 149 are one JSON number


def test_a_moved_default_changes_no_fingerprint() -> None:
    before = admit([Input(name="X", type="integer", default=1)], {})
    after = admit([Input(name="X", type="integer", default=2)], {})
    assert (before.as_given, before.as_converted) == (after.as_given, after.as_converted)
    assert admit([Input(name="X", type="integer", default=1)], {"X": 1}).as_converted != (
        before.as_converted
    )


def test_an_edited_definition_leaves_what_was_given() -> None:
    before = admit([Input(name="X", type="integer")], {"X": "5"})
    after = admit([Input(name="X", type="string")], {"X": "5"})
    gone = admit([], {"X": "5"})
    assert before.as_given == after.as_given == gone.as_given
    assert before.as_converted != after.as_converted


def test_numbers_are_compared_exactly_and_true_is_not_one() -> None:
    assert same(1, 1.0)
    assert same({"a": [1, None]}, {"a": [1.0, None]})
    assert not same(1, True)
    assert not same(0, False)
    assert not same("1", 1)
    assert not same(2**53, 2**53 + 1)
    assert fingerprint("x", [1]) != fingerprint(["x"], 1)


# ── signatures ([S4]) ────────────────────────────────────────────────────────────────────────


def test_a_signature_shows_what_must_or_may_be_passed_and_leaves_defaults_out() -> None:
    assert signature("review_pr", REVIEW) == "review_pr(PR_NUMBER: int, GROUP?: staging|prod)"
    assert signature("f", []) == "f()"
    assert signature("f", [Input(name="X", type="integer", required=True, default=0)]) == "f()"
    assert signature("f", [Input(name="X", type="boolean", nullable=True, default=None)]) == "f()"


@pytest.mark.parametrize(
    ("declared", "word"),
    [
        (Input(name="X", type="string"), "str"),
        (Input(name="X", type="number", nullable=True), "float|null"),
        (Input(name="X", type="boolean"), "bool"),
        (Input(name="X", type="object"), "object"),
        (Input(name="X", type="array"), "array"),
        (Input(name="X", type="array", items={"type": "integer"}), "int[]"),
        (
            Input(name="X", type="array", items={"type": "string", "enum": ["a", "b"]}),
            "(a|b)[]",
        ),
        (Input(name="X", type="integer", enum=[1, 2]), "1|2"),
        (Input(name="X", type="string", enum=["in progress", "a|b", ""]), '"in progress"|"a|b"|""'),
        (Input(name="X", type="integer", enum=list(range(100))), "0|1|2|3|4|5|+94 more"),
        (Input(name="X", type="string", enum=["x" * 50, "y" * 50]), "x" * 50 + "|+1 more"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_signature_says_what_a_value_may_be(declared: Input, word: str) -> None:
    assert signature("f", [declared]) == f"f(X?: {word})"


def test_help_holds_the_signature_and_every_input_with_its_default() -> None:
    helped = wire.decode(wire.encode(help_for("review_pr", REVIEW)))
    assert helped == {
        "signature": "review_pr(PR_NUMBER: int, GROUP?: staging|prod)",
        "inputs": [
            {
                "name": "PR_NUMBER",
                "type": "integer",
                "required": True,
                "description": "Pull request number",
            },
            {
                "name": "GITHUB_OWNER",
                "type": "string",
                "required": True,
                "default": "runloop-works",
            },
            {"name": "GROUP", "type": "string", "enum": ["staging", "prod"]},
        ],
    }
