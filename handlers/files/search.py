"""files.search: find text in the files of an agent that its caller may read."""

from __future__ import annotations

from agentworks import targets
from agentworks.contracts.files import SearchFiles
from agentworks.contracts.operation import Caller
from agentworks.dispatch import Deferred
from agentworks.errands import SearchAgentFiles
from agentworks.store import Snapshot
from handlers.files import reach


def search(db: Snapshot, caller: Caller, request: SearchFiles) -> Deferred:
    target = targets.find(db, caller, request.target, "reader", request)
    folder = reach.folder_of(target, request.folder)
    agent_id = target.agent.agent_id
    authored = reach.authored_whole(db, agent_id)
    return Deferred(SearchAgentFiles(agent_id, request.text, folder, authored))
