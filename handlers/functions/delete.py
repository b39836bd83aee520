"""functions.delete: remove a function. Calls already accepted run to their end."""

from __future__ import annotations

import msgspec

from agentworks import targets
from agentworks.contracts.functions import DeleteFunction, FunctionDeleted
from agentworks.contracts.operation import Caller
from agentworks.rules import refusals_of_agents as refusals
from agentworks.rules.arguments import nearest
from agentworks.rules.signatures import signature
from agentworks.store import Transaction
from agentworks.tables import agents, functions


def delete(tx: Transaction, caller: Caller, request: DeleteFunction) -> FunctionDeleted:
    agent = targets.find(tx, caller, request.target, "editor").agent
    offered = functions.offered(tx, agent.agent_id)
    names = [each.name for each in offered]
    if request.function not in names:
        near = nearest(request.function, names)
        args = msgspec.to_builtins(request) | {"function": near} if near else None
        signatures = [signature(each.name, each.declared) for each in offered]
        raise refusals.unknown_function(agent.name, request.function, signatures, args)
    functions.remove(tx, agent.agent_id, request.function)
    agents.touch(tx, agent.agent_id)
    return FunctionDeleted(target_id=agent.agent_id, function=request.function)
