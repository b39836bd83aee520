"""crews.set_runtime: say what runs an agent's turns; the next turn runs in it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from agentworks import targets
from agentworks.contracts.crews import RuntimeSet, SetRuntime
from agentworks.contracts.operation import Caller
from agentworks.rules import refusals_of_agents as refusals
from agentworks.rules.access import at_least
from agentworks.rules.function_definitions import as_object
from agentworks.rules.refusals import invalid_input
from agentworks.rules.runtimes import file_problems, runtime_problems, starts_programs
from agentworks.store import Transaction
from agentworks.tables import agents
from handlers.crews import saving, stored


class Prepared(Struct, frozen=True):
    """What stands in a request's `runtime` after `prepared`."""

    runtime: dict[str, Any] | None
    problems: list[str]


def prepared(request: SetRuntime) -> SetRuntime:
    runtime = as_object(request.runtime)
    return msgspec.structs.replace(request, runtime=Prepared(runtime, runtime_problems(runtime)))


def set_runtime(tx: Transaction, caller: Caller, request: SetRuntime) -> RuntimeSet:
    given: Prepared = request.runtime
    target = targets.find(tx, caller, request.target, "editor")
    agent, runtime = target.agent, given.runtime
    if given.problems:
        raise invalid_input(given.problems)
    files = saving.contents_for(tx, agent.agent_id, runtime)
    problems = file_problems(runtime, files)
    if problems:
        raise invalid_input(problems)
    changed = runtime != stored.runtime_of(agent)
    if changed and starts_programs(runtime) and not at_least(target.role, "owner"):
        raise refusals.needs_owner(
            [f"runtime: only an owner may say what programs {agent.name} starts"]
        )
    agents.set_runtime(tx, agent.agent_id, saving.json_text(runtime))
    name = None if runtime is None else runtime["name"]
    return RuntimeSet(agent_id=agent.agent_id, runtime=name)
