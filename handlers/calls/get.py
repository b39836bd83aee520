"""calls.get: progress and result of a call; waits for any change, or for an end, if asked to."""

from __future__ import annotations

from msgspec import UNSET

from agentworks import visible_calls
from agentworks.contracts.calls import GET, AwaitCall, CallAnswer, GetCall
from agentworks.contracts.operation import Caller
from agentworks.store import Snapshot
from agentworks.tables import calls
from agentworks.tables.calls import Call


def get(db: Snapshot, caller: Caller, request: GetCall) -> CallAnswer:
    call = visible_calls.find(db, caller, request.call_id)
    answer = visible_calls.shown(db, call)
    following = what_to_wait_for(request, call, bool(answer.pending_inputs))
    if following is not None:
        db.wait_on(calls.bell(call.call_id), then=(GET, following))
    return answer


def what_to_wait_for(request: GetCall, call: Call, asks: bool) -> GetCall | None:
    """The read that a patient caller goes on with; None when there is news already."""
    if call.final:
        return None
    if isinstance(request, AwaitCall):
        return None if call.settled or asks else request
    if request.after is UNSET:
        if call.settled or asks:
            return None
    elif call.revision > request.after:
        return None
    return GetCall(call_id=call.call_id, after=call.revision)
