"""files.delete: take a file from an agent, given by its authors or written by itself."""

from __future__ import annotations

from agentworks.contracts.files import DeleteFile, FileDeleted
from agentworks.contracts.operation import Caller
from agentworks.dispatch import Deferred
from agentworks.errands import RemoveAgentFile
from agentworks.rules.refusals import invalid_input
from agentworks.rules.runtimes import stored_runtime
from agentworks.store import Transaction
from agentworks.tables import agent_files, agents
from handlers.files import reach


def delete(tx: Transaction, caller: Caller, request: DeleteFile) -> FileDeleted | Deferred:
    agent = reach.to_change(tx, caller, request.target, request.path).agent
    if agent_files.find(tx, agent.agent_id, request.path) is None:
        return Deferred(RemoveAgentFile(agent.agent_id, request.path))
    runtime = stored_runtime(agent.runtime)
    if runtime is not None and runtime.get("file") == request.path:
        raise invalid_input([f"path {request.path} is what the runtime of {agent.name} runs"])
    agent_files.remove(tx, agent.agent_id, request.path)
    agents.touch(tx, agent.agent_id)
    return FileDeleted(agent_id=agent.agent_id, path=request.path)
