"""What a running agent is answered about its own turn: each answer and each refusal, exactly."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.turns import (
    ASK_PERSON,
    CANCEL_WAKEUP,
    GET_ANSWER,
    REPORT_PROGRESS,
    REQUEST_INPUT,
    RESCHEDULE_WAKEUP,
    SCHEDULE_WAKEUP,
)
from agentworks.rules import limits
from agentworks.tables import questions, wakeups
from tests import inside
from tests.conftest import MINUTE, World


@pytest.fixture(autouse=True)
def an_agent_is_in_its_turn(world: World) -> None:
    inside.begin(world)


def test_progress_is_reported_with_its_number(world: World, golden: Any) -> None:
    assert golden == world.call(REPORT_PROGRESS, "turn:call", line="reading the diff")


def test_progress_of_no_call_is_seen_by_nobody(world: World, golden: Any) -> None:
    assert golden == world.call(REPORT_PROGRESS, "turn:own", line="reading the diff")


def test_a_question_is_put_and_says_how_to_wait(world: World, golden: Any) -> None:
    asked = {"question": "Deploy?", "schema": {"type": "boolean"}, "expires_seconds": 60}
    assert golden == world.call(ASK_PERSON, "turn:call", **asked)


def test_a_secret_is_asked_for_as_one(world: World, golden: Any) -> None:
    assert golden == world.call(ASK_PERSON, "turn:call", question="Code?", secret=True)


def test_a_question_that_nobody_could_answer_is_not_put(world: World, golden: Any) -> None:
    assert golden == [
        world.call(ASK_PERSON, "turn:own", question="Deploy?"),
        world.call(REQUEST_INPUT, "turn:own", question="Deploy?"),
    ]


def test_the_schema_of_an_answer_is_vetted(world: World, golden: Any) -> None:
    bad = {"type": "number", "minimum": "low"}
    assert golden == world.call(ASK_PERSON, "turn:call", question="How many?", schema=bad)


def test_a_turn_has_so_many_questions_open(world: World, golden: Any) -> None:
    for number in range(limits.QUESTIONS_PER_TURN_MAX):
        assert world.answer(ASK_PERSON, "turn:call", question=f"{number}?").request_id
    assert golden == [
        world.call(ASK_PERSON, "turn:call", question="One more?"),
        world.call(REQUEST_INPUT, "turn:call", question="One more?"),
    ]


def test_a_durable_request_says_how_its_answer_comes(world: World, golden: Any) -> None:
    assert golden == world.call(REQUEST_INPUT, "turn:call", question="Which?", expires_days=7)


def test_an_answer_is_read_by_whoever_asked(world: World, golden: Any) -> None:
    asked = world.answer(REQUEST_INPUT, "turn:call", question="Which?")
    answer = '{"colour": "blue"}'
    world.transact(lambda tx: questions.answer(tx, asked.request_id, answer, "acc_ada"))
    assert golden == world.call(GET_ANSWER, "turn:call", request_id=asked.request_id)


def test_an_answer_that_never_came_is_none(world: World, golden: Any) -> None:
    asked = world.answer(ASK_PERSON, "turn:call", question="Deploy?")
    world.now += 20 * MINUTE
    assert golden == world.call(GET_ANSWER, "turn:call", request_id=asked.request_id)


def test_a_question_of_another_conversation_does_not_exist(world: World, golden: Any) -> None:
    asked = world.answer(ASK_PERSON, "turn:call", question="Deploy?")
    assert golden == world.call(GET_ANSWER, "turn:own", request_id=asked.request_id)


def test_a_wakeup_is_scheduled_moved_and_cancelled(world: World, golden: Any) -> None:
    assert golden == [
        world.call(SCHEDULE_WAKEUP, "turn:own", reason="Is the build green?", in_minutes=30),
        world.call(RESCHEDULE_WAKEUP, "turn:own", wakeup_id="wake_1", in_minutes=60),
        world.call(CANCEL_WAKEUP, "turn:own", wakeup_id="wake_1"),
    ]


def test_a_call_has_no_later(world: World, golden: Any) -> None:
    assert golden == world.call(SCHEDULE_WAKEUP, "turn:call", reason="look", in_minutes=5)


def test_a_conversation_waits_for_so_many_wakeups(world: World, golden: Any) -> None:
    for _ in range(limits.WAKEUPS_PER_CHAT_MAX):
        world.answer(SCHEDULE_WAKEUP, "turn:own", reason="look", in_minutes=5)
    assert golden == world.call(SCHEDULE_WAKEUP, "turn:own", reason="look", in_minutes=5)


def test_a_wakeup_that_is_not_there_cannot_be_changed(world: World, golden: Any) -> None:
    assert golden == [
        world.call(RESCHEDULE_WAKEUP, "turn:own", wakeup_id="wake_9", in_minutes=5),
        world.call(CANCEL_WAKEUP, "turn:own", wakeup_id="wake_9"),
    ]


def test_a_wakeup_that_has_come_cannot_be_changed(world: World, golden: Any) -> None:
    made = world.answer(SCHEDULE_WAKEUP, "turn:own", reason="look", in_minutes=5)
    world.transact(lambda tx: wakeups.fire(tx, made.wakeup_id, "turn_own"))
    assert golden == [
        world.call(RESCHEDULE_WAKEUP, "turn:own", wakeup_id=made.wakeup_id, in_minutes=5),
        world.call(CANCEL_WAKEUP, "turn:own", wakeup_id=made.wakeup_id),
    ]
