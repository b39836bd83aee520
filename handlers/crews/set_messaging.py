"""crews.set_messaging: let programs write to an agent, or stop them. People are never stopped."""

from __future__ import annotations

from agentworks import targets
from agentworks.contracts.crews import MessagingSet, SetMessaging
from agentworks.contracts.operation import Caller
from agentworks.store import Transaction
from agentworks.tables import agents


def set_messaging(tx: Transaction, caller: Caller, request: SetMessaging) -> MessagingSet:
    agent_id = targets.find(tx, caller, request.target, "owner", request).agent.agent_id
    agents.set_messaging(tx, agent_id, request.on)
    return MessagingSet(agent_id=agent_id, on=request.on)
