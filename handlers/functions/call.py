"""functions.call: run one function exactly as given, or be told how to call it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET

from agentworks import admission, visible_calls
from agentworks.admission import Wanted
from agentworks.contracts.calls import CallAnswer
from agentworks.contracts.functions import Busy, CallFunction
from agentworks.contracts.operation import Caller
from agentworks.rules import call_words, weights
from agentworks.store import Snapshot, Transaction


def call(tx: Transaction, caller: Caller, request: CallFunction) -> CallAnswer | Busy:
    admitted = admission.judge(tx, caller, wanted(request), tx.studied)
    if isinstance(admitted, Busy):
        return admitted
    agent, function = admitted.agent, admitted.function.name
    call_id = admission.accept(tx, caller, admitted)
    if request.submission_id is not UNSET:
        tx.understood = admission.meaning(agent, admitted.function, admitted.admitted, tx.studied)
    visible_calls.wait(tx, call_id)
    name = call_words.caller_name(caller)
    return visible_calls.accepted(tx, name, call_id, agent.name, function, None)


def understood(tx: Transaction, caller: Caller, request: CallFunction) -> bytes:
    """The fingerprint of what a call means: other spellings of the same call share it."""
    return admission.understood(tx, caller, wanted(request), tx.studied)


def heavy(request: CallFunction) -> bool:
    return weights.heavy(request.args)


def study(
    db: Snapshot, caller: Caller, request: CallFunction
) -> Callable[[], admission.Studied] | None:
    """The judging of heavy arguments, which takes seconds where they are many."""
    return admission.study(db, caller, wanted(request))


def wanted(request: CallFunction) -> Wanted:
    return Wanted(request.target, request.function, request.args, request.notify)
