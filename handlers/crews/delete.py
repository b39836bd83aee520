"""crews.delete: remove an agent with its chats, calls and files, whatever it is doing."""

from __future__ import annotations

from agentworks import targets
from agentworks.contracts.crews import DeleteCrew
from agentworks.contracts.operation import Caller
from agentworks.dispatch import Deferred
from agentworks.errands import RemoveAgentFolder
from agentworks.store import Transaction
from agentworks.tables import agents


def delete(tx: Transaction, caller: Caller, request: DeleteCrew) -> Deferred:
    agent_id = targets.find(tx, caller, request.target, "owner").agent.agent_id
    for call_id in agents.calls_waited_for(tx, agent_id):
        tx.ring(f"call/{call_id}")  # whoever waits for it learns that it is gone
    agents.remove(tx, agent_id)
    tx.ring("turns")  # its running turns are ended by the runner
    return Deferred(RemoveAgentFolder(agent_id))
