"""turns.get_answer: what came of a question this conversation has asked."""

from __future__ import annotations

from agentworks.contracts.operation import Caller
from agentworks.contracts.turns import Asked, GetAnswer, PersonAnswered, Unanswered
from agentworks.rules import refusals_of_turns as refusals
from agentworks.store import Snapshot
from agentworks.tables import questions, turns
from handlers.turns import asking


def get_answer(
    db: Snapshot, caller: Caller, request: GetAnswer
) -> Asked | PersonAnswered | Unanswered:
    question = questions.find(db, request.request_id)
    turn = turns.find(db, question.turn_id) if question else None
    if question is None or turn is None or turn.chat_id != caller.chat_id:
        raise refusals.unknown_question(request.request_id)
    answer = asking.shown(question, db.now)
    if isinstance(answer, Asked):
        db.wait_on(question.bell)
    return answer
