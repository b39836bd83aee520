"""files.list: the files of an agent that its caller may read."""

from __future__ import annotations

from agentworks import targets
from agentworks.contracts.files import ListFiles
from agentworks.contracts.operation import Caller
from agentworks.dispatch import Deferred
from agentworks.errands import ListAgentFiles
from agentworks.store import Snapshot
from handlers.files import reach


def list_files(db: Snapshot, caller: Caller, request: ListFiles) -> Deferred:
    target = targets.find(db, caller, request.target, "reader", request)
    folder = reach.folder_of(target, request.folder)
    agent_id = target.agent.agent_id
    return Deferred(ListAgentFiles(agent_id, folder, reach.authored(db, agent_id)))
