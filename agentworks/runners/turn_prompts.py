"""What an agent is told at the beginning of a turn: who speaks to it, what for, and how to answer.

The header comes first and is ours; texts of others stand between two lines with a random mark that
is made for this one turn, so nothing inside them can pass for a header (contract §4).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from agentworks import clock
from agentworks.contracts.operation import CallerKind
from agentworks.runners import outcomes
from agentworks.runners.folders import Folders
from agentworks.runners.turn_claims import Work
from agentworks.tables.executions import Called
from agentworks.tables.questions import Question

_SCHEMA_LENGTH_MAX = 20_000  # characters of a result schema within a prompt
_BREAKS = re.compile("[\\s\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]+")
_KINDS = {
    CallerKind.PERSON: "a person",
    CallerKind.CONNECTION: "a program outside",
    CallerKind.CREW_BUILDER: "a Crew",
    CallerKind.CREW_RUN: "a Crew",
    CallerKind.CODE: "a code agent",
    CallerKind.SCHEDULE: "a schedule",
    CallerKind.WEBHOOK: "a webhook",
}


def prompt_of(work: Work, folders: Folders) -> str:
    """The prompt of a turn that begins."""
    return _PROMPTS[work.turn.cause](work, folders)


def _function(work: Work, folders: Folders) -> str:
    call = _call(work)
    return "\n".join(
        [
            f"Function {call.function}, called by {_caller(call)}.",
            "",
            "Inputs, as JSON:",
            call.args or "{}",
            "",
            f"Files for the caller go into this folder (FUNCTION_OUTPUT_DIR): {folders.out}",
            *_result(call, folders.result_file),
            "",
            "Your task:" if work.turn.prompt else "Your task is what the function's name says.",
            work.turn.prompt,
        ]
    ).rstrip("\n")


def _result(call: Called, result_file: Path) -> list[str]:
    if call.result_schema is None:
        return ["Your final reply is the result the caller receives, besides those files."]
    return [
        "Write the result as JSON, and nothing else, to this file (FUNCTION_RESULT_FILE): "
        f"{result_file}",
        "It must fit this JSON Schema: "
        + outcomes.shortened(call.result_schema, _SCHEMA_LENGTH_MAX),
    ]


def _ask(work: Work, folders: Folders) -> str:
    call = _call(work)
    return "\n".join(
        [
            f"{_caller(call)} asks you the following. Your final reply is the answer they receive; "
            "nothing else of this turn is sent to them.",
            *_fenced(work.mark, "question", call.message or work.turn.prompt),
        ]
    )


def _steer(work: Work, folders: Folders) -> str:
    who = _caller(work.call) if work.call else "The caller"
    return "\n".join(
        [
            f"{who} adds to the call you are working on. Your final reply becomes its outcome.",
            *_fenced(work.mark, "addition", work.turn.prompt),
        ]
    )


def _messages(work: Work, folders: Folders) -> str:
    lane = work.lane
    assert lane is not None, "a turn of messages is claimed with its conversation"
    many = len(work.messages)
    lines = [
        f"{many} messages" if many > 1 else "A message",
        f"from {_line(lane.sender)}, another participant and not the person you work for,",
        f"in conversation {lane.conversation_id}.",
    ]
    header = " ".join(lines)
    told = [
        header,
        f'To reply, use send_message with inbox_id "{lane.conversation_id}". Your final reply in '
        "this turn is sent to nobody; you may also stay silent.",
    ]
    for number, message in enumerate(work.messages, 1):
        sent = clock.rfc3339(message.sent_at)
        what = f"message {number} of {many}, {message.message_id}, sent {sent}"
        told += _fenced(work.mark, what, message.body)
    return "\n".join(told)


def _wakeup(work: Work, folders: Folders) -> str:
    told = ["You asked to be woken in this conversation. Nothing is sent again; go on from here."]
    for reason in work.reasons:
        what = f"wakeup {reason.wakeup_id}, due {clock.rfc3339(reason.due_at)}"
        told += _fenced(work.mark, what, reason.reason)
    return "\n".join(told)


def _notify(work: Work, folders: Folders) -> str:
    call = work.outcome
    if call is None:
        return f"The call {work.turn.prompt} that you made has ended; it is no longer on record."
    return (
        f"The call {call.call_id} that you made, {call.function} of {_line(call.target)}, "
        f"is {call.state}. get_function_call with this call_id gives its outcome."
    )


def _answer(work: Work, folders: Folders) -> str:
    question = work.question
    if question is None:
        return f"The question {work.turn.prompt} that you asked is no longer on record."
    return "\n".join(answer_lines(question, work.mark))


def answer_lines(question: Question, mark: str) -> list[str]:
    """What came of a question that outlived its turn, or that its turn could not be told."""
    asked = _fenced(mark, f"question {question.request_id}", question.question)
    if question.answer is None:
        return [
            "Nobody answered the question you asked a person before its time ran out. "
            "That is no approval of anything.",
            *asked,
        ]
    return [
        "The question you asked a person has been answered. Go on from there.",
        *asked,
        *_fenced(mark, "answer, as JSON", question.answer),
    ]


def _trigger(work: Work, folders: Folders) -> str:
    return work.turn.prompt


_PROMPTS: dict[str, Callable[[Work, Folders], str]] = {
    "function": _function,
    "ask": _ask,
    "steer": _steer,
    "answer": _answer,
    "messages": _messages,
    "wakeup": _wakeup,
    "notify": _notify,
    "trigger": _trigger,
}


def _fenced(mark: str, what: str, text: str) -> list[str]:
    return ["", f"--- {mark} {what} ---", text, f"--- {mark} end ---"]


def _call(work: Work) -> Called:
    assert work.call is not None, "a turn of a call is claimed with it"
    return work.call


def _caller(call: Called) -> str:
    kind = _KINDS.get(CallerKind(call.caller_kind), "an agent")
    return f"{_line(call.caller_name)} ({kind})"


def _line(text: str) -> str:
    """Somebody's name on one line, whatever is in it."""
    return _BREAKS.sub(" ", text).strip()
