"""turns.ask_person: an immediate question to a person. Its expiry is never an approval."""

from __future__ import annotations

from agentworks.contracts.operation import Caller
from agentworks.contracts.turns import (
    GET_ANSWER,
    Asked,
    AskPerson,
    GetAnswer,
    PersonAnswered,
    Unanswered,
)
from agentworks.store import Transaction
from handlers.turns import asking


def ask_person(
    tx: Transaction, caller: Caller, request: AskPerson
) -> Asked | PersonAnswered | Unanswered:
    question = asking.put(
        tx,
        caller,
        "secret" if request.secret else "feedback",
        request.question,
        request.schema,
        tx.now + request.expires_seconds * 1_000,
    )
    tx.wait_on(question.bell, then=(GET_ANSWER, GetAnswer(request_id=question.request_id)))
    return asking.shown(question, tx.now)
