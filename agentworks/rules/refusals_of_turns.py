"""How this server says no to a running agent about its own turn: progress, questions, wakeups."""

from __future__ import annotations

from agentworks.contracts.refusal import RefusalCode, Refuse
from agentworks.rules.refusals import refuse
from agentworks.rules.wording import shown


def no_call_waits() -> Refuse:
    return refuse(
        RefusalCode.NOT_PENDING,
        "this turn works on no call that goes on, so nobody would see it; write a message instead",
    )


def too_many_questions(limit: int, retry_at: int) -> Refuse:
    return refuse(
        RefusalCode.RATE_LIMITED,
        f"{limit} questions of this turn are already open; wait for answers to some",
        retry_at=retry_at,
    )


def unknown_question(request_id: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND, f"this conversation has asked no question {shown(request_id)}"
    )


def no_wakeups_here() -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        "this conversation was made for one call and ends with it; nothing can wake it later",
    )


def too_many_wakeups(limit: int) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        f"this conversation already waits for {limit} wakeups; cancel one first",
    )


def unknown_wakeup(wakeup_id: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND, f"this conversation has scheduled no wakeup {shown(wakeup_id)}"
    )


def wakeup_over(wakeup_id: str, state: str) -> Refuse:
    return refuse(RefusalCode.NOT_PENDING, f"wakeup {wakeup_id} {_OVER[state]}")


_OVER = {
    "firing": "has come: its turn is about to begin",
    "fired": "has come, and its turn has begun",
    "cancelled": "was cancelled",
    "interrupted": "has come, and was interrupted when the server stopped",
}
