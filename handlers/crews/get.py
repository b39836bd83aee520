"""crews.get: what an agent is and can do, and what its caller may do with it."""

from __future__ import annotations

from agentworks import clock, targets
from agentworks.contracts.crews import CrewView, FunctionView, GetCrew
from agentworks.contracts.operation import Caller
from agentworks.rules.access import at_least
from agentworks.rules.signatures import help_for
from agentworks.store import Snapshot
from agentworks.tables import accounts, agents, functions
from handlers.crews import stored


def get(db: Snapshot, caller: Caller, request: GetCrew) -> CrewView:
    target = targets.find(db, caller, request.target, "reader", request)
    agent = target.agent
    told, owner = agents.texts(db, agent.agent_id), accounts.by_id(db, agent.account_id)
    runtime = stored.runtime_of(agent)
    editing = at_least(target.role, "editor")
    return CrewView(
        agent_id=agent.agent_id,
        name=agent.name,
        kind=agent.kind,
        about=told.about if told else "",
        owner=owner.name if owner else "",
        role=target.role,
        messaging=bool(agent.messaging),
        idle_minutes=agent.idle_seconds // 60,
        runtime=None if runtime is None else runtime["name"],
        functions=[
            FunctionView(
                function=each.name,
                description=each.description,
                help=help_for(each.name, each.declared),
                restricted=bool(each.allowed_callers),
            )
            for each in functions.offered(db, agent.agent_id)
        ],
        triggers=stored.triggers_of(db, agent.agent_id),
        members=stored.members_of(db, agent.agent_id) if editing else None,
        paused_at=None if agent.paused_at is None else clock.rfc3339(agent.paused_at),
    )
