"""What the questions of a running agent share: whether one may be put, and how it is shown."""

from __future__ import annotations

import json
from typing import Any

from agentworks import clock
from agentworks.contracts.operation import Caller
from agentworks.contracts.turns import Asked, PersonAnswered, Unanswered
from agentworks.rules import limits
from agentworks.rules import refusals_of_turns as refusals
from agentworks.rules.refusals import invalid_input
from agentworks.rules.schemas import schema_problems
from agentworks.store import Transaction
from agentworks.tables import answers, calls, executions, questions
from agentworks.tables.questions import Question

_NEXT = {
    "feedback": "turns.get_answer waits for the answer; without one, do not act as if there were",
    "secret": "turns.get_answer waits for the answer; without one, do not act as if there were",
    "durable": "go on with what does not need it, or end your turn: the answer prompts the next",
}


def put(
    tx: Transaction,
    caller: Caller,
    kind: str,
    question: str,
    schema: Any,
    expires_at: int | None,
) -> Question:
    """Put a question to whoever may answer for this turn's call; the same one is put once."""
    problems = [] if schema is None else schema_problems(schema, "schema")
    if problems:
        raise invalid_input(problems)
    call = executions.called(tx, caller.call_id)
    if call is None or call.state != "working":
        raise refusals.no_call_waits()
    request_id = answers.same_open(tx, caller.turn_id, kind, question)
    if request_id is None:
        most = limits.QUESTIONS_PER_TURN_MAX
        if answers.count_open(tx, caller.turn_id) >= most:
            raise refusals.too_many_questions(most, tx.now + 60_000)
        written = None if schema is None else json.dumps(schema)
        request_id = questions.ask(
            tx, caller.turn_id, call.call_id, kind, question, written, expires_at
        )
        calls.changed(tx, call.call_id)
    found = questions.find(tx, request_id)
    assert found is not None, "it was written in this very transaction"
    return found


def shown(question: Question, now: int) -> Asked | PersonAnswered | Unanswered:
    """A question as whoever asked it may see it at this moment (milliseconds)."""
    if question.state == "answered" and question.answer is not None:
        return PersonAnswered(request_id=question.request_id, answer=json.loads(question.answer))
    if question.state == "withdrawn":
        return Unanswered(request_id=question.request_id, why="withdrawn")
    if not question.open_at(now):
        return Unanswered(request_id=question.request_id, why="expired")
    end = question.expires_at
    return Asked(
        request_id=question.request_id,
        kind=question.kind,  # type: ignore[arg-type]  # the schema holds it to these words
        next=_NEXT[question.kind],
        expires_at=None if end is None else clock.rfc3339(end),
    )
