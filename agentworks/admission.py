"""The one place where the use of a function is judged and accepted, whatever way it came.

`functions.call` comes here, and so do schedules and webhooks: the same target, access, callers,
arguments, chain and slots for all (contract §5). Judging changes nothing; accepting refuses
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from agentworks import begun_calls, clock, retries, targets, visible_calls
from agentworks.begun_calls import Chain
from agentworks.contracts.functions import Busy
from agentworks.contracts.operation import Caller
from agentworks.contracts.refusal import RefusalCode, Refuse, Refused
from agentworks.rules import (
    access,
    arguments,
    call_words,
    corrections,
    limits,
    listings,
    signatures,
)
from agentworks.rules import refusals_of_work as refusals
from agentworks.rules.arguments import Admitted
from agentworks.rules.corrections import Correction
from agentworks.rules.fingerprints import plain
from agentworks.store import Snapshot, Transaction
from agentworks.tables import calls, chats, functions
from agentworks.tables.agents import Agent
from agentworks.tables.calls import Accepted, Held
from agentworks.tables.functions import Function, Offered

_encode = msgspec.json.Encoder().encode


class Wanted(Struct, frozen=True, omit_defaults=True):
    """The use of a function, as somebody wants it: what a `try` of its refusal consists of."""

    target: str
    function: str
    args: Any = UNSET
    notify: bool = False


class Studied(Struct, frozen=True):
    """What was found out about the arguments of a call before its turn at the store.

    It holds for the function whose `inputs` (as their table has them) are still the same.
    """

    agent_id: str
    function: str
    inputs: str
    admitted: Admitted
    correction: Correction | None
    meaning: bytes

    def holds(self, agent: Agent, function: Function) -> bool:
        mine = (self.agent_id, self.function, self.inputs)
        return mine == (agent.agent_id, function.name, function.inputs)


class Admission(Struct, frozen=True):
    """A call that may be accepted: everything about it is decided."""

    agent: Agent
    function: Function
    admitted: Admitted
    chain: Chain
    notify: bool


# ── judging ──────────────────────────────────────────────────────────────────────────────────


def judge(
    db: Snapshot, caller: Caller, wanted: Wanted, studied: Studied | None = None
) -> Admission | Busy:
    """The call as it would be accepted, or Busy when no slot is free. Raises Refuse."""
    if caller.replies_only:
        raise refusals.begins_nothing()
    agent = _target(db, caller, wanted)
    function = functions.find(db, agent.agent_id, wanted.function)
    if function is None:
        raise _unknown_function(db, caller, wanted, agent)
    if not access.admits(function.allowed_callers, caller):
        raise refusals.caller_not_admitted(agent.name, function.name)
    if studied is None or not studied.holds(agent, function):
        studied = None
    admitted = studied.admitted if studied else arguments.admit(function.declared, wanted.args)
    notifies = not wanted.notify or _goes_on(db, caller)
    if admitted.problems or not notifies:
        raise _wrong(function, wanted, admitted, notifies, studied)
    chain = begun_calls.chain_to(db, caller, agent)
    if agent.runtime is None:
        raise refusals.no_runtime(agent.name)
    held = calls.holding(db, agent.agent_id)
    if len(held) >= limits.CREW_CALLS_RUNNING_MAX:
        return _busy(db, caller, agent, held)
    return Admission(agent, function, admitted, chain, wanted.notify)


def study(db: Snapshot, caller: Caller, wanted: Wanted) -> Callable[[], Studied] | None:
    """The judging of a call's arguments, to be done elsewhere; None if it cannot come to that."""
    try:
        agent, function = _named(db, caller, wanted)
    except Refuse:
        return None
    return partial(_study, agent, function, wanted.args)


def _study(agent: Agent, function: Function, args: Any) -> Studied:
    admitted = arguments.admit(function.declared, args)
    corrected = corrections.correct(function.declared, args) if admitted.problems else None
    known = meaning(agent, function, admitted)
    return Studied(agent.agent_id, function.name, function.inputs, admitted, corrected, known)


def understood(
    db: Snapshot, caller: Caller, wanted: Wanted, studied: Studied | None = None
) -> bytes:
    """The fingerprint of what a call means, however it is spelled.

    Raises Refuse when there is no such target or function.
    """
    agent, function = _named(db, caller, wanted)
    if studied is not None and studied.holds(agent, function):
        admitted = studied.admitted
    else:
        admitted = arguments.admit(function.declared, wanted.args)
    return meaning(agent, function, admitted, studied)


def _named(db: Snapshot, caller: Caller, wanted: Wanted) -> tuple[Agent, Function]:
    agent = targets.find(db, caller, wanted.target, "runner").agent
    function = functions.find(db, agent.agent_id, wanted.function)
    if function is None:
        raise refusals.unknown_function(agent.name, wanted.function, [], None, [])
    return agent, function


def meaning(
    agent: Agent, function: Function, admitted: Admitted, studied: Studied | None = None
) -> bytes:
    """Target, function and arguments, converted and before defaults (contract §5)."""
    if studied is not None and studied.holds(agent, function):
        return studied.meaning
    return retries.meaning(agent.agent_id, function.name, plain(admitted.converted))


def _target(db: Snapshot, caller: Caller, wanted: Wanted) -> Agent:
    try:
        return targets.find(db, caller, wanted.target, "runner", wanted).agent
    except Refuse as refusal:
        raise Refuse(_followable(db, caller, wanted, refusal.refused)) from None


def _followable(db: Snapshot, caller: Caller, wanted: Wanted, refused: Refused) -> Refused:
    """The refusal of a target whose `try` names another: only if the rest is right there too."""
    if refused.try_ is None:
        return refused
    try:
        judge(db, caller, msgspec.structs.replace(wanted, target=refused.try_["target"]))
    except Refuse as further:
        told = further.refused
        filled = [*refused.placeholders, *told.placeholders] if told.try_ else []
        return msgspec.structs.replace(refused, try_=told.try_, placeholders=filled)
    return refused


def _goes_on(db: Snapshot, caller: Caller) -> bool:
    """Whether the caller is in a conversation that a call's outcome can prompt a turn of."""
    if caller.kind not in call_words.CONVERSING:
        return False
    chat = chats.find(db, caller.chat_id)
    return chat is not None and chat.kind != "call"  # the work on a call ends with its answer


def _wrong(
    function: Function,
    wanted: Wanted,
    admitted: Admitted,
    notifies: bool,
    studied: Studied | None,
) -> Refuse:
    corrected = studied.correction if studied else None
    if corrected is None:
        corrected = corrections.correct(function.declared, wanted.args)
    try_: dict[str, Any] = {
        "target": wanted.target,
        "function": function.name,
        "args": corrected.args,
    }
    if wanted.notify and notifies:
        try_["notify"] = True
    problems = admitted.problems if notifies else [*admitted.problems, refusals.NOTIFY_OUTSIDE]
    signature = signatures.help_for(function.name, function.declared)
    return refusals.wrong_arguments(problems, signature, try_, corrected.placeholders)


def _unknown_function(db: Snapshot, caller: Caller, wanted: Wanted, agent: Agent) -> Refuse:
    offered = _offered(db, caller, agent)
    lines = [signatures.signature(each.name, each.declared) for each in offered]
    near = arguments.nearest(wanted.function, [each.name for each in offered])
    try_, placeholders = _instead(wanted, offered, near)
    return refusals.unknown_function(agent.name, wanted.function, lines, try_, placeholders)


def _offered(db: Snapshot, caller: Caller, agent: Agent) -> list[Offered]:
    """The functions of an agent that this caller may know of."""
    return [
        each
        for each in functions.offered(db, agent.agent_id)
        if access.admits(each.allowed_callers, caller)
    ]


def _instead(
    wanted: Wanted, offered: list[Offered], near: str | None
) -> tuple[dict[str, Any] | None, list[str]]:
    """The same call of the function that was probably meant."""
    for each in offered:
        if each.name == near:
            corrected = corrections.correct(each.declared, wanted.args)
            args = {"target": wanted.target, "function": near, "args": corrected.args}
            return args, corrected.placeholders
    return None, []


def _busy(db: Snapshot, caller: Caller, agent: Agent, held: list[Held]) -> Busy:
    known = {each.name for each in _offered(db, caller, agent)}
    return Busy(
        code=RefusalCode.BUSY.value,
        retry_at=clock.rfc3339(db.now + limits.BUSY_RETRY_SECONDS * 1_000),
        running=[
            _running(caller, each, known)
            for each in sorted(held, key=lambda each: (each.since, each.call_id))
        ],
    )


def _running(caller: Caller, held: Held, known: set[str]) -> str:
    """What takes a slot: by name only what the caller knows, by id only what is its own."""
    own = visible_calls.made(caller, held.account_id, held.caller_chat_id)
    function = held.function if own or held.function in known else listings.A_CALL
    return call_words.running(function, held.since, held.call_id if own else None)


# ── accepting ────────────────────────────────────────────────────────────────────────────────


def accept(tx: Transaction, caller: Caller, admission: Admission) -> str:
    """Begin an admitted call in a conversation of its own; returns its call_id."""
    agent, function = admission.agent, admission.function
    name = call_words.caller_name(caller)
    chat_id = chats.begin(
        tx, agent.agent_id, "builder", "call", None, f"{function.name}, called by {name}"
    )
    call = Accepted(
        **begun_calls.who(caller),
        **begun_calls.place(agent, admission.chain),
        call_id=tx.new_id("call"),
        kind="function",
        function=function.name,
        chat_id=chat_id,
        args=_encode(admission.admitted.args).decode(),
        result_schema=function.result_schema,
        notify_chat_id=caller.chat_id if admission.notify else None,
        holds_slot=True,
    )
    begun_calls.begin(tx, call, "function", function.instructions, place=1)
    return call.call_id
