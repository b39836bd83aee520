"""calls.reply: answer a question that a running call has asked. An answer approves nothing."""

from __future__ import annotations

from typing import Any

import msgspec

from agentworks import visible_calls
from agentworks.contracts.calls import Replied, Reply
from agentworks.contracts.operation import Caller
from agentworks.rules import call_words, replies
from agentworks.rules import refusals_of_work as refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import calls, questions
from agentworks.tables.questions import Question


def reply(tx: Transaction, caller: Caller, request: Reply) -> Replied:
    call = visible_calls.find(tx, caller, request.call_id)
    question = open_question(tx, call.call_id, request.request_id)
    answer = fitting(question, request)
    by = call_words.caller_id(caller)
    if not questions.answer(tx, question.request_id, msgspec.json.encode(answer).decode(), by):
        raise refusals.question_over(question.request_id, "answered")
    calls.changed(tx, call.call_id)
    tx.ring("turns")
    return Replied(
        call_id=call.call_id,
        request_id=question.request_id,
        next=call_words.replied(call.call_id, call.revision + 1),
    )


def open_question(db: Snapshot, call_id: str, request_id: str) -> Question:
    """The question, while it can be answered. Refuses unknown ones and those that are over."""
    found = questions.find(db, request_id)
    if found is None or found.call_id != call_id:
        raise refusals.unknown_question(call_id, request_id)
    if not found.open_at(db.now):
        state = "expired" if found.state == "pending" else found.state
        raise refusals.question_over(request_id, state)
    return found


def fitting(question: Question, request: Reply) -> Any:
    """The answer as the question's schema wants it. Refuses with every problem."""
    schema = None if question.schema is None else msgspec.json.decode(question.schema)
    answer, problems = replies.judge(schema, request.answer)
    if not problems:
        return answer
    sample = replies.sample(schema)
    try_ = None
    if sample is not None:
        try_ = {
            "call_id": request.call_id,
            "request_id": request.request_id,
            "answer": sample,
        }
    raise refusals.wrong_answer(problems, try_, ["answer"] if try_ else [])
