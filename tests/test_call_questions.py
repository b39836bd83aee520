"""Questions of running calls: answered once, by who may, with what was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.calls import REPLY
from agentworks.contracts.functions import CALL
from agentworks.rules import limits, replies
from tests import calling
from tests.calling import Office, asks, begins
from tests.conftest import MINUTE

an_office = calling.an_office

PUBLISH = {
    "type": "object",
    "required": ["publish", "to"],
    "properties": {"publish": {"type": "boolean"}, "to": {"enum": ["staging", "prod"]}},
}


def running(office: Office, name: str = "laptop") -> str:
    call_id = office.called(name)
    office.begin(call_id)
    return call_id


def stored(office: Office, request_id: str) -> tuple[Any, ...]:
    return office.rows(
        "SELECT state, answer, answered_by FROM questions WHERE request_id = ?", request_id
    )[0]


# ── answering ────────────────────────────────────────────────────────────────────────────────


def test_an_answer_goes_to_the_turn_that_asked(office: Office, golden: Any) -> None:
    call_id = running(office)
    request_id = office.question(call_id)
    assert golden == office.call(
        REPLY, "laptop", call_id=call_id, request_id=request_id, answer="yes, publish"
    )
    assert stored(office, request_id) == ("answered", '"yes, publish"', "conn_laptop")
    assert office.got(call_id).pending_inputs == []


def test_the_first_answer_counts(office: Office, golden: Any) -> None:
    call_id = running(office)
    request_id = office.question(call_id)
    office.replied(call_id, request_id, "yes")
    assert golden == office.call(
        REPLY, "person:ada", call_id=call_id, request_id=request_id, answer="no"
    )
    assert stored(office, request_id)[1] == '"yes"'


def test_an_expired_question_takes_no_answer_and_is_no_approval(
    office: Office, golden: Any
) -> None:
    call_id = running(office)
    request_id = office.question(call_id, expires_at=office.now + MINUTE)
    office.now += MINUTE
    assert golden == office.call(
        REPLY, "laptop", call_id=call_id, request_id=request_id, answer="yes"
    )
    assert stored(office, request_id) == ("pending", None, None)
    assert office.got(call_id).pending_inputs == []


def test_a_question_ends_with_the_turn_that_asked_it(office: Office) -> None:
    call_id = running(office)
    request_id = office.question(call_id)
    office.end(call_id, "completed")
    answer = office.replied(call_id, request_id, "yes")
    assert (answer.code, answer.problems) == (
        "not_pending",
        [f"question {request_id} was withdrawn: the turn that asked it has ended"],
    )


def test_a_question_of_another_call_is_unknown(office: Office, golden: Any) -> None:
    one, other = running(office), running(office)
    request_id = office.question(one)
    assert golden == office.call(
        REPLY, "laptop", call_id=other, request_id=request_id, answer="yes"
    )


def test_a_stranger_cannot_answer(office: Office) -> None:
    call_id = running(office)
    request_id = office.question(call_id)
    for name in ("bob", "cleo", "narrow"):
        assert office.replied(call_id, request_id, "yes", name).code == "not_found"
    assert office.replied(call_id, request_id, "yes", "watcher").code == "not_permitted"
    assert stored(office, request_id)[0] == "pending"


def test_the_targets_editors_may_answer(office: Office) -> None:
    call_id = running(office, "bob")
    request_id = office.question(call_id)
    assert office.replied(call_id, request_id, "yes", "dora").request_id == request_id


def test_an_answer_wakes_whoever_waits_for_it(office: Office) -> None:
    async def scene() -> bool:
        await office.dispatch(
            CALL, office.who("laptop"), {"target": "Pipeline", "function": "settings"}
        )
        await office.store.transact(begins("call_1"))
        request_id = await office.store.transact(asks("call_1"))
        ticket = office.bells.now()
        sleeper = office.bells.wait(f"question/{request_id}", ticket, calling.SOON_SECONDS)
        given = {"call_id": "call_1", "request_id": request_id, "answer": "yes"}
        await office.dispatch(REPLY, office.who("laptop"), given)
        return await sleeper

    assert office.run(scene())


# ── what fits ────────────────────────────────────────────────────────────────────────────────


def test_an_answer_that_does_not_fit_is_refused_with_all_problems_and_one_that_would(
    office: Office, golden: Any
) -> None:
    call_id = running(office)
    request_id = office.question(call_id, schema=PUBLISH)
    exchange = office.call(
        REPLY,
        "laptop",
        call_id=call_id,
        request_id=request_id,
        answer={"publish": "maybe", "to": "dev"},
    )
    assert golden == exchange
    assert office.answer(REPLY, "laptop", **exchange["answer"]["try"]).request_id == request_id


def test_an_object_as_text_is_taken_for_the_object_it_spells(office: Office) -> None:
    call_id = running(office)
    request_id = office.question(call_id, schema=PUBLISH)
    office.replied(call_id, request_id, '{"publish": true, "to": "prod"}')
    assert stored(office, request_id)[1] == '{"publish":true,"to":"prod"}'


@pytest.mark.parametrize(
    ("schema", "answer", "kept"),
    [
        (None, "yes", "yes"),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, False, False),
        ({"type": "integer"}, "5", 5),
        ({"type": "string"}, "5", "5"),
        ({"type": ["string", "integer"]}, "5", "5"),
        ({"type": "array"}, "[1, 2]", [1, 2]),
        ({"enum": [1, "1"]}, "1", "1"),
        ({}, "anything", "anything"),
    ],
)
def test_text_is_read_as_json_only_where_it_does_not_fit_as_text(
    schema: Any, answer: Any, kept: Any
) -> None:
    taken, problems = replies.judge(schema, answer)
    assert (repr(taken), problems) == (repr(kept), [])


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        (None, {"a": 1}),
        (None, "  "),
        ({"type": "boolean"}, "yes"),
        ({"type": "integer"}, "5.5"),
        ({"type": "array"}, "[1, 1, 1"),
        ({"type": "object"}, "[]"),
        ({"type": "string"}, "x" * limits.REPLY_BYTES_MAX),
    ],
)
def test_what_does_not_fit_is_a_problem(schema: Any, answer: Any) -> None:
    assert replies.judge(schema, answer)[1]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "boolean"},
        {"type": ["integer", "null"]},
        {"enum": ["a", "b"]},
        {"const": 7},
        {"type": "integer", "minimum": 5},
        {"examples": ["x@y"], "type": "string"},
        PUBLISH,
        {"type": "object", "required": ["inner"], "properties": {"inner": PUBLISH}},
    ],
)
def test_a_sample_answer_is_one_that_fits(schema: Any) -> None:
    sample = replies.sample(schema)
    assert sample is not None and replies.judge(schema, sample) == (sample, [])


def test_where_no_sample_comes_to_mind_none_is_offered() -> None:
    assert replies.sample({"type": "string", "pattern": "^[0-9]{6}$"}) is None
    assert replies.sample({"allOf": [{"type": "string"}, {"minLength": 9}]}) is None
