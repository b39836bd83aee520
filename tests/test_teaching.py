"""Calls that cannot even be read: what is wrong with the rest of them is told too."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.functions import CALL
from tests import calling
from tests.calling import Office

an_office = calling.an_office

REVIEW = {"target": "Pipeline", "function": "review_pr"}


def refused(office: Office, name: str = "laptop", /, **call: Any) -> Any:
    answer = office.answer(CALL, name, **call)
    assert answer.code == "invalid_input", answer
    if answer.try_ is not None:
        assert office.answer(CALL, name, **answer.try_).call_id
        office.change("UPDATE calls SET holds_slot = 0")
    return answer


def test_inputs_given_beside_args_are_put_into_them(office: Office, golden: Any) -> None:
    exchange = office.call(CALL, "laptop", **REVIEW, pr_number="149", GROUP="dev", colour="red")
    assert golden == exchange
    assert office.answer(CALL, "laptop", **exchange["answer"]["try"]).call_id


def test_an_input_given_twice_is_taken_from_args(office: Office) -> None:
    answer = refused(office, **REVIEW, args={"PR_NUMBER": 7}, PR_NUMBER=8)
    assert answer.try_ == REVIEW | {"args": {"PR_NUMBER": 7}}


def test_args_misspelt_are_judged_as_args(office: Office) -> None:
    answer = refused(office, **REVIEW, arg={"PR_NUMBER": "x"})
    assert answer.problems == [
        'unknown input "arg"; did you mean args?',
        'PR_NUMBER must be an integer (got "x")',
    ]
    assert answer.try_ == REVIEW | {"args": {"PR_NUMBER": 149}}
    assert answer.placeholders == ["args.PR_NUMBER"]
    assert answer.function.signature.startswith("review_pr(")


def test_how_a_call_is_waited_for_does_not_hide_what_it_wants(office: Office) -> None:
    answer = refused(office, **REVIEW, args={}, wait_seconds="long", submission_id="")
    assert answer.problems == [
        'wait_seconds must be an integer (got "long")',
        "submission_id must not be empty",
        "missing required input PR_NUMBER",
    ]
    assert answer.try_ == REVIEW | {"args": {"PR_NUMBER": 149}}


def test_what_cannot_be_left_out_gives_no_call_to_follow(office: Office) -> None:
    assert refused(office, **REVIEW, args={"PR_NUMBER": 7}, notify="maybe").try_ is None


def test_a_call_without_a_target_is_shown_one_that_has_the_function(office: Office) -> None:
    answer = refused(office, function="review_pr", args={"PR_NUMBER": 7})
    assert (answer.try_, answer.placeholders) == (
        REVIEW | {"args": {"PR_NUMBER": 7}},
        ["target"],
    )


def test_a_call_without_a_function_is_shown_one_of_its_target(office: Office) -> None:
    answer = refused(office, target="scout")
    assert answer.try_ == {"target": "scout", "function": "look"}
    assert answer.placeholders == ["function"]


def test_a_call_without_anything_is_shown_one_that_works(office: Office, golden: Any) -> None:
    exchange = office.call(CALL, "bob")
    assert golden == exchange
    assert office.answer(CALL, "bob", **exchange["answer"]["try"]).call_id


def test_who_may_call_nothing_is_shown_nothing(office: Office) -> None:
    answer = office.answer(CALL, "cleo")
    assert (answer.try_, answer.placeholders) == (None, [])


@pytest.mark.parametrize("target", ["Vault", "Nowhere", "Idle"])
def test_a_target_that_cannot_be_called_is_told_with_the_rest(office: Office, target: str) -> None:
    answer = refused(office, target=target, function="open", colour="red")
    assert answer.problems[0] == 'unknown input "colour"' and len(answer.problems) == 2
    assert answer.try_ is None


def test_nothing_is_told_of_functions_that_do_not_admit_the_caller(office: Office) -> None:
    answer = refused(office, target="Pipeline", function="release", VERSION="1")
    assert answer.problems[0] == 'unknown input "VERSION"'
    assert not any("belongs into args" in each for each in answer.problems)
    assert answer.function is None and answer.try_ is None


def test_nothing_is_told_to_who_may_not_call(office: Office) -> None:
    assert office.answer(CALL, "watcher", **REVIEW, colour="red").code == "not_permitted"
    assert office.answer(CALL, "nobody", **REVIEW, colour="red").code == "not_signed_in"


def test_of_very_many_inputs_beside_args_some_are_told(office: Office) -> None:
    many = {f"PR_NUMBER{n}": n for n in range(500)}
    answer = refused(office, **REVIEW, **many)
    assert len(answer.problems) < 30


@pytest.mark.parametrize("args", [None, "", "[]", 5, "{"])
def test_arguments_that_are_no_object_stay_so(office: Office, args: Any) -> None:
    answer = refused(office, **REVIEW, args=args, PR_NUMBER=7)
    assert answer.problems[0] == 'unknown input "PR_NUMBER"'
    assert answer.placeholders == ["args.PR_NUMBER"]
