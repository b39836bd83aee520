"""calls.read_file: a page of a file a call has produced, or the list of its files."""

from __future__ import annotations

from agentworks import visible_calls
from agentworks.contracts.calls import CallFile, FileList, ReadFile
from agentworks.contracts.operation import Caller
from agentworks.dispatch import Deferred
from agentworks.errands import ListCallFiles, Listed, ReadCallFile
from agentworks.rules import refusals_of_work as refusals
from agentworks.store import Snapshot
from agentworks.tables.calls import Call


def read_file(db: Snapshot, caller: Caller, request: ReadFile) -> FileList | Deferred:
    call = visible_calls.find(db, caller, request.call_id)
    return page(call, request) if request.file else listing(call)


def listing(call: Call) -> FileList | Deferred:
    """Of a call that has ended, what is on record; of one that runs, what is there now."""
    if not call.final:
        return Deferred(ListCallFiles(call.agent_id, call.call_id))
    files = [CallFile(file=each.file, size=each.size) for each in visible_calls.files(call)]
    return FileList(files=files)


def page(call: Call, request: ReadFile) -> Deferred:
    if call.files_expired:
        raise refusals.files_expired(call.call_id)
    listed = {each.file: each for each in visible_calls.files(call)}
    known = listed.get(request.file)
    return Deferred(
        ReadCallFile(
            call.agent_id,
            call.call_id,
            request.file,
            request.offset,
            request.limit,
            None if known is None else Listed(known.size, known.modified),
        )
    )
