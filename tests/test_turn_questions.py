"""What a turn asks of a person: answered while it runs, later, never, and never by an expiry."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts.refusal import RefusalCode
from agentworks.contracts.turns import ASK_PERSON, GET_ANSWER, REQUEST_INPUT
from agentworks.rules import limits
from tests.conftest import HOUR, World
from tests.programs import until
from tests.turning import WAIT, Turning, function, program, scripted, status, telling, tells

ASKS = {"ask": "Publish?", "schema": {"type": "boolean"}, "as": "sure"}


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


def asks(call: Any) -> bool:
    return bool(call.pending_inputs)


# ── asked by the runtime ─────────────────────────────────────────────────────────────────────


def test_an_answer_reaches_the_runtime_that_asked(turning: Turning) -> None:
    turning.crew("Helper", scripted(ASKS, {"say": "{{sure}}"}))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        call = await turning.until(asked.call_id, asks)
        (question,) = call.pending_inputs
        assert (question.question, question.kind) == ("Publish?", "feedback")
        assert question.schema == {"type": "boolean"}
        assert call.activity == "waiting for an answer"
        await turning.reply(asked.call_id, question.request_id, True)
        answer = await turning.settled(asked.call_id)
        assert (answer.answer, answer.pending_inputs) == ("true", [])
        again = await turning.reply(asked.call_id, question.request_id, False)
        assert again.code == RefusalCode.NOT_PENDING

    turning.play(scene)


def test_a_question_that_nobody_answers_fails_the_call_and_approves_nothing(
    turning: Turning,
) -> None:
    turning.crew("Helper", scripted(ASKS, {"say": "published"}))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        call = await turning.until(asked.call_id, asks)
        turning.world.now += HOUR + 1
        over = await turning.settled(asked.call_id)
        assert (status(over), over.reason) == ("failed", "nobody answered in time: Publish?")
        late = await turning.reply(asked.call_id, call.pending_inputs[0].request_id, True)
        assert late.code == RefusalCode.NOT_PENDING

    turning.play(scene)
    assert turning.value("SELECT state FROM questions") == "expired"


def test_a_question_ends_with_its_turn(turning: Turning) -> None:
    script = tells({"type": "need_input", "request_id": "q", "question": "Sure?"})
    turning.crew("Helper", program(script + WAIT + tells({"type": "final"}), events="jsonl"))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        call = await turning.until(asked.call_id, asks)
        (turning.folder("Helper") / "go").touch()
        await turning.settled(asked.call_id)
        late = await turning.reply(asked.call_id, call.pending_inputs[0].request_id, "yes")
        assert late.code == RefusalCode.NOT_PENDING

    turning.play(scene)
    assert turning.value("SELECT state FROM questions") == "withdrawn"


def test_an_answer_that_the_runtime_cannot_take_is_the_next_turn(turning: Turning) -> None:
    ask = tells({"type": "need_input", "request_id": "q", "question": "Sure?"})
    final = """printf '{"type":"final","text":"%s"}' "$(tail -2 said | head -1 | tr -d \\")" """
    script = "cat > said; [ -e began ] || { touch began; " + ask + WAIT + "}; " + final
    turning.crew("Helper", program(script, events="jsonl"), offers=[function("work")])

    async def scene() -> None:
        called = await turning.call("Helper", "work")
        call = await turning.until(called.call_id, asks)
        await turning.reply(called.call_id, call.pending_inputs[0].request_id, "certainly")
        await until(lambda: turning.value("SELECT count(*) FROM turns") == 2)
        (turning.folder("Helper") / "go").touch()
        answer = await turning.settled(called.call_id)
        assert (status(answer), answer.answer) == ("completed", "certainly")

    turning.play(scene)


def test_a_schema_that_could_not_be_checked_is_not_asked_for(turning: Turning) -> None:
    bad = {"type": "string", "pattern": "(a+)+$"}
    turning.crew("Helper", scripted({**ASKS, "schema": bad}, {"say": "{{sure}}"}))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        call = await turning.until(asked.call_id, asks)
        assert call.pending_inputs[0].schema is None
        await turning.reply(asked.call_id, call.pending_inputs[0].request_id, "any")
        assert (await turning.settled(asked.call_id)).answer == "any"

    turning.play(scene)


def test_a_secret_answer_is_forgotten_once_it_was_told(turning: Turning) -> None:
    ask = tells({"type": "need_input", "request_id": "q", "question": "Code?", "kind": "secret"})
    final = """read -r answer; echo "$answer" | grep -q 123456 && echo '{"type":"final"}'"""
    script = "read -r first; " + ask + final
    turning.crew("Helper", program(script, events="jsonl", steer=True))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        call = await turning.until(asked.call_id, asks)
        assert call.pending_inputs[0].kind == "secret"
        await turning.reply(asked.call_id, call.pending_inputs[0].request_id, "123456")
        assert status(await turning.settled(asked.call_id)) == "answered"

    turning.play(scene)
    assert turning.value("SELECT answer FROM questions") == '"(told)"'


def test_a_turn_that_asks_too_much_is_ended(turning: Turning) -> None:
    many = limits.QUESTIONS_PER_TURN_MAX + 1
    line = """echo '{"type":"need_input","request_id":"'$i'","question":"Q"}'"""
    turning.crew(
        "Helper", program(f"for i in $(seq {many}); do {line}; done; sleep 600", events="jsonl")
    )

    async def scene() -> None:
        over = await turning.settled((await turning.ask("Helper", "Go")).call_id)
        assert over.reason == "it asked more than 20 questions in one turn"

    turning.play(scene)


# ── asked by an operation of the agent ───────────────────────────────────────────────────────


def test_human_feedback_waits_for_its_answer(turning: Turning) -> None:
    turning.crew("Helper", telling("sleep 600"))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        wants = {"question": "Sure?", "schema": {"type": "boolean"}}
        waiting = asyncio.create_task(turning.act(ASK_PERSON, token, **wants, wait_seconds=20))
        call = await turning.until(asked.call_id, asks)
        again = await turning.act(ASK_PERSON, token, **wants)  # asked twice, put once
        (question,) = (await turning.get(asked.call_id)).pending_inputs
        assert again.request_id == question.request_id == call.pending_inputs[0].request_id
        await turning.reply(asked.call_id, question.request_id, True)
        answer = await waiting
        assert (status(answer), answer.answer) == ("answered", True)
        read = await turning.act(GET_ANSWER, token, request_id=question.request_id)
        assert read.answer is True

    turning.play(scene)


def test_human_feedback_that_expires_is_unanswered(turning: Turning) -> None:
    turning.crew("Helper", telling("sleep 600"))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        wants = {"question": "Sure?", "expires_seconds": 60}
        waiting = asyncio.create_task(turning.act(ASK_PERSON, token, **wants, wait_seconds=20))
        await turning.until(asked.call_id, asks)
        turning.world.now += HOUR
        answer = await waiting
        assert (status(answer), answer.why) == ("unanswered", "expired")

    turning.play(scene)


def test_a_durable_request_outlives_its_turn_and_its_answer_is_the_next(turning: Turning) -> None:
    final = """printf '{"type":"final","text":"%s"}' "$(tail -2 said | head -1 | tr -d \\")" """
    script = "cat > said; [ -e began ] || { touch began; " + WAIT + "}; " + final
    turning.crew("Helper", telling(script), offers=[function("work")])

    async def scene() -> None:
        called = await turning.call("Helper", "work")
        token = await turning.token(called.call_id)
        request = await turning.act(REQUEST_INPUT, token, question="Which?")
        assert (request.kind, request.expires_at) == ("durable", None)
        (turning.folder("Helper") / "go").touch()
        await turning.idle()
        parked = await turning.get(called.call_id)
        assert (status(parked), parked.activity) == ("working", "")
        assert turning.value("SELECT holds_slot FROM calls") == 0
        turning.world.now += 40 * 24 * HOUR
        await turning.reply(called.call_id, request.request_id, "the second")
        answer = await turning.settled(called.call_id)
        assert (status(answer), answer.answer) == ("completed", "the second")

    turning.play(scene)


def test_a_durable_request_that_runs_out_is_told_as_no_approval(turning: Turning) -> None:
    script = "cat > said; [ -e began ] || { touch began; " + WAIT + "}; "
    turning.crew("Helper", telling(script + tells({"type": "final"})))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        await turning.act(REQUEST_INPUT, token, question="Which?", expires_days=1)
        (turning.folder("Helper") / "go").touch()
        await turning.idle()
        turning.world.now += 25 * HOUR
        assert status(await turning.settled(asked.call_id)) == "answered"
        assert "That is no approval" in (turning.folder("Helper") / "said").read_text()

    turning.play(scene)


def test_questions_of_a_turn_have_a_limit(turning: Turning) -> None:
    turning.crew("Helper", telling("sleep 600"))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        for number in range(limits.QUESTIONS_PER_TURN_MAX):
            assert status(await turning.act(ASK_PERSON, token, question=f"{number}?")) == "asked"
        refused = await turning.act(ASK_PERSON, token, question="One more?")
        assert refused.code == RefusalCode.RATE_LIMITED

    turning.play(scene)


def test_the_schema_of_a_question_is_checked(turning: Turning) -> None:
    turning.crew("Helper", telling("sleep 600"))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        bad = {"type": "string", "pattern": "(a+)+$"}
        refused = await turning.act(ASK_PERSON, token, question="Sure?", schema=bad)
        assert refused.code == RefusalCode.INVALID_INPUT
        assert json.dumps(refused.problems).count("schema") == 1

    turning.play(scene)


def test_a_secret_that_an_operation_asked_for_is_forgotten_with_its_turn(turning: Turning) -> None:
    turning.crew("Helper", telling(WAIT + tells({"type": "final"})))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        question = await turning.act(ASK_PERSON, token, question="Code?", secret=True)
        await turning.reply(asked.call_id, question.request_id, "123456")
        read = await turning.act(GET_ANSWER, token, request_id=question.request_id)
        assert read.answer == "123456"
        (turning.folder("Helper") / "go").touch()
        await turning.settled(asked.call_id)

    turning.play(scene)
    assert turning.value("SELECT answer FROM questions") == '"(told)"'


def test_a_durable_request_ends_with_a_call_that_failed(turning: Turning) -> None:
    turning.crew("Helper", telling(WAIT + tells({"type": "failed", "reason": "no luck"})))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        request = await turning.act(REQUEST_INPUT, token, question="Which?")
        (turning.folder("Helper") / "go").touch()
        assert status(await turning.settled(asked.call_id)) == "failed"
        late = await turning.reply(asked.call_id, request.request_id, "the blue")
        assert late.code == RefusalCode.NOT_PENDING

    turning.play(scene)
