"""How this server says no about asks, calls and the questions they raise."""

from __future__ import annotations

from typing import Any

from agentworks.contracts.refusal import FunctionHelp, RefusalCode, Refuse, Refused
from agentworks.rules.refusals import invalid_input, refuse
from agentworks.rules.wording import shown

NOTIFY_OUTSIDE = (
    "notify prompts a turn in the conversation that called, and this caller is in none that goes "
    "on; wait for the call instead"
)


# ── who may begin something ──────────────────────────────────────────────────────────────────


def begins_nothing() -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        "this is a guest's conversation: its agent may answer there, and begin nothing",
    )


def caller_not_admitted(target: str, function: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        f"{target} lets only some callers use {function}, and you are none of them; its editors "
        "can admit you",
    )


def name_inside(try_: dict[str, Any]) -> Refuse:
    return invalid_input(
        ["agent_name is for programs outside; an agent in its turn asks as itself"], try_
    )


def no_runtime(target: str) -> Refuse:
    return refuse(
        RefusalCode.NO_RUNTIME,
        f"no runtime configured: nothing would run {target}; its owner can set one with "
        "crews.set_runtime, or with [runtime] in its crew.toml and `agentworks apply`",
    )


def messaging_off(target: str) -> Refuse:
    return refuse(
        RefusalCode.MESSAGING_OFF,
        f"{target} takes no messages from programs; its owner can change that. Its functions can "
        "still be called",
    )


def no_conversation(target: str, kind: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED, f"{target} is a {kind}: it has functions and no conversation"
    )


def nothing_begins(try_: dict[str, Any]) -> Refuse:
    return invalid_input(
        [
            "new_conversation does not go with this: a message about a running call goes into its "
            "turn, and an agent asked by another of its owner is asked in its own chat"
        ],
        try_,
    )


# ── arguments ────────────────────────────────────────────────────────────────────────────────


def wrong_arguments(
    problems: list[str], function: FunctionHelp, try_: dict[str, Any], placeholders: list[str]
) -> Refuse:
    """Everything wrong at once, how to call it, and a call that would be accepted ([S4])."""
    return Refuse(
        Refused(
            code=RefusalCode.INVALID_INPUT,
            problems=problems,
            function=function,
            try_=try_,
            placeholders=placeholders,
        )
    )


def unknown_function(
    target: str,
    function: str,
    signatures: list[str],
    try_: dict[str, Any] | None,
    placeholders: list[str],
) -> Refuse:
    if function == "ask":
        problem = "ask is no function to call: use the operation agents.ask"
    elif signatures:
        problem = f"{target} has no function {shown(function)} that you may call"
    else:
        problem = f"{target} has no functions that you may call; ask it in plain words"
    return Refuse(
        Refused(
            code=RefusalCode.UNKNOWN_FUNCTION,
            problems=[problem],
            functions=signatures,
            try_=try_,
            placeholders=placeholders,
        )
    )


# ── chains ───────────────────────────────────────────────────────────────────────────────────


def in_chain_already(target: str) -> Refuse:
    return refuse(
        RefusalCode.LOOP_REFUSED,
        f"{target} already takes part in the chain of calls that led here, and waits for it",
    )


def chain_too_long(limit: int) -> Refuse:
    return refuse(
        RefusalCode.LOOP_REFUSED, f"{limit} agents already take part in this chain of calls"
    )


def chain_too_busy(limit: int) -> Refuse:
    return refuse(RefusalCode.LOOP_REFUSED, f"this chain has already made {limit} calls")


# ── calls that are there ─────────────────────────────────────────────────────────────────────


def unknown_call(call_id: str) -> Refuse:
    """Unknown, or neither yours nor your agent's: the same words for both (contract §5)."""
    return refuse(RefusalCode.NOT_FOUND, f"no call {shown(call_id)}")


def call_ended(call_id: str, state: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_PENDING,
        f"call {call_id} is {state}: no turn of it runs that could take a message; ask without "
        "about",
    )


def about_another(call_id: str, try_: dict[str, Any]) -> Refuse:
    return invalid_input([f"call {call_id} is not a call of this target"], try_)


def too_many_steers(call_id: str, limit: int, retry_at: int) -> Refuse:
    return refuse(
        RefusalCode.RATE_LIMITED,
        f"call {call_id} was sent {limit} messages within the last hour",
        retry_at=retry_at,
    )


def steers_waiting(call_id: str, limit: int) -> Refuse:
    return refuse(
        RefusalCode.INBOX_FULL,
        f"{limit} messages already wait for call {call_id} to take them up",
    )


# ── questions ────────────────────────────────────────────────────────────────────────────────


def unknown_question(call_id: str, request_id: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND, f"call {call_id} has asked no question {shown(request_id)}"
    )


def question_over(request_id: str, state: str) -> Refuse:
    return refuse(RefusalCode.NOT_PENDING, f"question {request_id} {_OVER[state]}")


_OVER = {
    "answered": "was already answered; the first answer counts",
    "expired": "has expired; that is no answer, and no approval either",
    "withdrawn": "was withdrawn: the turn that asked it has ended",
}


def wrong_answer(
    problems: list[str], try_: dict[str, Any] | None, placeholders: list[str]
) -> Refuse:
    return invalid_input(problems, try_, placeholders)


# ── files ────────────────────────────────────────────────────────────────────────────────────


def files_expired(call_id: str) -> Refuse:
    return refuse(
        RefusalCode.EXPIRED, f"the files of call {call_id} were kept for some days and are removed"
    )


def unknown_call_file(call_id: str, file: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND,
        f"call {call_id} has no file {shown(file)}; leave file out to list what it has",
    )
