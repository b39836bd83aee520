"""turns.request_input: a question that outlives its turn and a restart; its answer is a turn."""

from __future__ import annotations

from msgspec import UNSET

from agentworks.contracts.operation import Caller
from agentworks.contracts.turns import Asked, RequestInput
from agentworks.store import Transaction
from handlers.turns import asking

_DAY = 86_400_000  # milliseconds


def request_input(tx: Transaction, caller: Caller, request: RequestInput) -> Asked:
    days = request.expires_days
    question = asking.put(
        tx,
        caller,
        "durable",
        request.question,
        request.schema,
        None if days is UNSET else tx.now + int(days) * _DAY,
    )
    answer = asking.shown(question, tx.now)
    assert isinstance(answer, Asked), "only a question that is open was just put"
    return answer
