"""functions.list: the functions that admit a caller, with all that is needed to call them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from msgspec import UNSET

from agentworks import targets
from agentworks.contracts.definitions import Role
from agentworks.contracts.functions import FunctionLine, FunctionList, ListFunctions
from agentworks.contracts.operation import Caller, CallerKind
from agentworks.contracts.refusal import FunctionHelp
from agentworks.rules import access, limits, listings
from agentworks.rules.signatures import help_for
from agentworks.store import Snapshot
from agentworks.tables import agents, functions
from agentworks.targets import Target


def list_functions(db: Snapshot, caller: Caller, request: ListFunctions) -> FunctionList:
    lines: list[FunctionLine] = []
    for target in whose(db, caller, request):
        for line in of_agent(db, caller, target):
            if len(lines) == limits.FUNCTIONS_LISTED_MAX:
                return FunctionList(functions=lines, more=True)
            lines.append(line)
    return FunctionList(functions=lines)


def whose(db: Snapshot, caller: Caller, request: ListFunctions) -> Iterator[Target]:
    if request.target is not UNSET:
        yield targets.find(db, caller, request.target, "reader", request)
        return
    for each in targets.visible(db, caller):
        agent = agents.by_id(db, each.agent_id)
        if agent is not None:
            yield Target(agent, cast(Role, each.role))


def of_agent(db: Snapshot, caller: Caller, target: Target) -> Iterator[FunctionLine]:
    agent = target.agent
    can = "read only" if access.only_reads(caller, target.role, agent.kind) else ""

    def line(function: str, description: str, told: FunctionHelp) -> FunctionLine:
        return FunctionLine(
            target=agent.name,
            target_id=agent.agent_id,
            function=function,
            description=description,
            help=told,
            can=can,
        )

    listens = bool(agent.messaging) or caller.kind is CallerKind.PERSON
    if agent.kind in listings.ASKED and listens:
        yield line(listings.ASK, listings.ASK_DESCRIPTION, listings.ASK_HELP)
    for each in functions.offered(db, agent.agent_id):
        if access.admits(each.allowed_callers, caller):
            yield line(each.name, each.description, help_for(each.name, each.declared))
