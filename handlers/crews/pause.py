"""crews.pause: hold the wakeups and schedules of one agent or of the server; messages go on."""

from __future__ import annotations

from msgspec import UNSET

from agentworks import targets
from agentworks.contracts.crews import Pause, Paused
from agentworks.contracts.operation import Caller
from agentworks.rules.refusals import owner_only
from agentworks.store import Transaction
from agentworks.tables import agents, stores


def pause(tx: Transaction, caller: Caller, request: Pause) -> Paused:
    if request.target is UNSET:
        if not caller.owner:
            raise owner_only()
        stores.pause(tx, request.on)
        return Paused(agent_id="", on=request.on)
    agent_id = targets.find(tx, caller, request.target, "editor", request).agent.agent_id
    agents.pause(tx, agent_id, request.on)
    return Paused(agent_id=agent_id, on=request.on)
