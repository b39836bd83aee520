"""An agent's definition as it stands in the rows, in the form in which it is applied."""

from __future__ import annotations

from typing import Any, Literal, cast

from agentworks.contracts.definitions import (
    CrewDefinition,
    FunctionDefinition,
    Role,
    TriggerDefinition,
)
from agentworks.rules.changes import Content
from agentworks.rules.runtimes import stored_runtime
from agentworks.store import Snapshot
from agentworks.tables import agent_files, agents, functions, members, triggers
from agentworks.tables.agents import Agent
from agentworks.tables.functions import Function

_MINUTE = 60  # seconds


def definition_of(db: Snapshot, agent: Agent) -> CrewDefinition:
    """All that `apply` would save, members by their accounts' names."""
    told = agents.texts(db, agent.agent_id)
    assert told is not None, "its row has just been read"
    return CrewDefinition(
        name=agent.name,
        about=told.about,
        kind="code" if agent.kind == "code" else "crew",
        instructions=told.instructions,
        messaging=bool(agent.messaging),
        idle_minutes=agent.idle_seconds // _MINUTE,
        runtime=runtime_of(agent),
        members=members_of(db, agent.agent_id),
        functions=[function_of(each) for each in functions.of_agent(db, agent.agent_id)],
        triggers=triggers_of(db, agent.agent_id),
    )


def runtime_of(agent: Agent) -> dict[str, Any] | None:
    """{name, …settings}, or None for an agent that nothing runs."""
    return stored_runtime(agent.runtime)


def members_of(db: Snapshot, agent_id: str) -> dict[str, Role]:
    return {each.account_name: cast(Role, each.role) for each in members.of_agent(db, agent_id)}


def function_of(saved: Function) -> FunctionDefinition:
    return FunctionDefinition(
        name=saved.name,
        description=saved.description,
        inputs=list(saved.declared),
        result_schema=saved.schema,
        allowed_callers=saved.allowed_callers.split(),
        instructions=saved.instructions,
    )


def triggers_of(db: Snapshot, agent_id: str) -> list[TriggerDefinition]:
    return [
        TriggerDefinition(
            id=each.trigger_id, conversation=cast(Literal["own", "fresh"], each.conversation)
        )
        for each in triggers.of_agent(db, agent_id)
    ]


def files_of(db: Snapshot, agent_id: str) -> dict[str, Content]:
    """What is to be known of each of its files in order to compare them."""
    return {
        each.path: Content(each.size, each.sha256) for each in agent_files.of_agent(db, agent_id)
    }
