"""Calls as those may see them who may: who made one, and the side of its target (contract §5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from agentworks import clock, targets
from agentworks.contracts.calls import (
    GET,
    Answered,
    AwaitCall,
    CallAnswer,
    CallFile,
    Completed,
    Failed,
    Interrupted,
    Late,
    PendingInput,
    ProgressLine,
    TimedOut,
    Working,
)
from agentworks.contracts.operation import Caller
from agentworks.rules import access, call_words, limits
from agentworks.rules import refusals_of_work as refusals
from agentworks.store import Snapshot
from agentworks.tables import agents, calls, progress, questions, turns
from agentworks.tables.calls import Call
from agentworks.tables.questions import Question


class ListedFile(Struct, frozen=True):
    """A file of a call as it was when the call ended."""

    file: str
    size: int
    modified: int = 0  # nanoseconds since 1970


_decode_files = msgspec.json.Decoder(list[ListedFile]).decode


# ── who may see what ─────────────────────────────────────────────────────────────────────────


def find(db: Snapshot, caller: Caller, call_id: str) -> Call:
    """The call, for who made it and for its target's editors. Knowing an id grants nothing."""
    call = calls.find(db, call_id)
    agent = agents.by_id(db, call.agent_id) if call else None
    target = targets.seen(db, caller, agent) if agent else None
    if call is None or target is None:
        raise refusals.unknown_call(call_id)
    if made(caller, call.account_id, call.caller_chat_id) or caller.call_id == call_id:
        return call
    if not caller.agent_id and access.at_least(target.role, "editor"):
        return call
    raise refusals.unknown_call(call_id)


def made(caller: Caller, account_id: str, caller_chat_id: str | None) -> bool:
    """Whether it is the caller's own call. A turn's own are those of its conversation."""
    if account_id != caller.account_id:
        return False
    return not caller.agent_id or caller_chat_id == caller.chat_id


# ── what is shown ────────────────────────────────────────────────────────────────────────────


def recovered(db: Snapshot, caller: Caller, call_id: str) -> CallAnswer:
    """The answer to a retry: the accepted call as it is now, and patience for its end."""
    call = find(db, caller, call_id)
    if not call.settled:
        wait(db, call_id)
    return shown(db, call)


def wait(db: Snapshot, call_id: str) -> None:
    """Let a patient caller wait for the end of a call, or for a question it asks."""
    db.wait_on(calls.bell(call_id), then=(GET, AwaitCall(call_id=call_id)))


def accepted(
    db: Snapshot, caller_name: str, call_id: str, target: str, function: str, inbox_id: str | None
) -> Working:
    """A call that was accepted in this very transaction."""
    behind = turns.ahead_of_call(db, call_id) if inbox_id else 0
    return Working(
        call_id=call_id,
        target=target,
        function=function,
        caller=caller_name,
        revision=1,
        since=clock.rfc3339(db.now),
        next=call_words.accepted(call_id, behind),
        inbox_id=inbox_id,
        queued_behind=behind,
    )


def shown(db: Snapshot, call: Call) -> CallAnswer:
    """Everything there is to see of a call now."""
    waits = call.state == "working" and call.started_at is None
    behind = turns.ahead_of_call(db, call.call_id) if waits else 0
    asked = pending(db, call)
    listed = files(call)
    common: dict[str, Any] = {
        "call_id": call.call_id,
        "target": call.target,
        "function": call.function,
        "caller": call.caller_name,
        "revision": call.revision,
        "since": clock.rfc3339(call.started_at or call.accepted_at),
        "next": _next(db, call, behind, asked, bool(listed)),
        "inbox_id": call.inbox_id,
        "queued_behind": behind,
        "progress": _progress(db, call.call_id),
        "activity": call.activity,
        "pending_inputs": [_asked(each) for each in asked],
        "files": [
            CallFile(file=each.file, size=each.size)
            for each in listed[: limits.CALL_FILES_SHOWN_MAX]
        ],
        "more_files": len(listed) > limits.CALL_FILES_SHOWN_MAX,
    }
    return _OF_STATE[call.state](call, common)


def files(call: Call) -> list[ListedFile]:
    """What it had produced when it ended; nothing before that."""
    return [] if call.files is None else _decode_files(call.files)


def pending(db: Snapshot, call: Call) -> list[Question]:
    """The questions that can be answered now."""
    return questions.pending_of_call(db, call.call_id, limits.PENDING_INPUTS_SHOWN_MAX)


def _asked(question: Question) -> PendingInput:
    return PendingInput(
        request_id=question.request_id,
        kind=question.kind,
        question=question.question,
        schema=None if question.schema is None else msgspec.json.decode(question.schema),
        expires_at=None if question.expires_at is None else clock.rfc3339(question.expires_at),
    )


def _progress(db: Snapshot, call_id: str) -> list[ProgressLine]:
    newest = progress.newest(db, call_id, limits.PROGRESS_LINES_SHOWN)
    return [ProgressLine(clock.rfc3339(each.at), each.line) for each in newest]


def _next(db: Snapshot, call: Call, behind: int, asked: list[Question], has_files: bool) -> str:
    silent = db.now - call.sign_at
    if asked:
        return call_words.asking([each.request_id for each in asked], silent)
    if call.state == "timed_out":
        return call_words.timed_out(call.call_id, call.revision, silent)
    if call.settled:
        return call_words.ended(call.state, has_files, bool(call.files_expired))
    if call.started_at is None:
        return call_words.waiting(call.call_id, call.revision, silent, behind)
    return call_words.working(call.call_id, call.revision, silent)


# ── one line per state ───────────────────────────────────────────────────────────────────────


def _result(call: Call) -> Any:
    return UNSET if call.result is None else msgspec.json.decode(call.result)


def _last_line(common: dict[str, Any]) -> str:
    return common["progress"][-1].line if common["progress"] else ""


_OF_STATE: dict[str, Callable[[Call, dict[str, Any]], CallAnswer]] = {
    "working": lambda call, common: Working(**common),
    "answered": lambda call, common: Answered(**common, answer=call.answer or ""),
    "completed": lambda call, common: Completed(
        **common,
        answer=call.answer or "",
        result=_result(call),
        result_file=call.result_file,
    ),
    "failed": lambda call, common: Failed(
        **common, reason=call.reason or "", partial=call.partial or ""
    ),
    "interrupted": lambda call, common: Interrupted(
        **common, reason=call.reason or "", last_progress=_last_line(common)
    ),
    "timed_out": lambda call, common: TimedOut(
        **common, reason=call.reason or "", partial=call.partial or ""
    ),
    "late": lambda call, common: Late(
        **common,
        answer=call.answer or "",
        result=_result(call),
        result_file=call.result_file,
    ),
}
