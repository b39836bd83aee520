"""functions.define: add a function to an agent, or replace it; checked whole before it is saved."""

from __future__ import annotations

import msgspec

from agentworks import targets
from agentworks.contracts.functions import DefineFunction, FunctionDefined
from agentworks.contracts.operation import Caller
from agentworks.rules import limits
from agentworks.rules import refusals_of_agents as refusals
from agentworks.rules.conversion import got
from agentworks.rules.function_definitions import Judged, judge
from agentworks.rules.refusals import invalid_input
from agentworks.rules.signatures import signature
from agentworks.store import Snapshot, Transaction
from agentworks.tables import agents, functions

_ITS_OWN = ("description", "inputs", "result_schema", "allowed_callers", "instructions")


def prepared(request: DefineFunction) -> DefineFunction:
    """The same request with what was judged of it in the place of its result schema."""
    given = {name: getattr(request, name) for name in _ITS_OWN}
    judged = judge({"name": request.function, **given})
    problems = [as_told(each) for each in judged.problems]
    judged = msgspec.structs.replace(judged, problems=problems)
    return msgspec.structs.replace(request, result_schema=judged, inputs=[])


def as_told(problem: str) -> str:
    """A definition calls `name` what a request calls `function`."""
    return f"function{problem[4:]}" if problem.startswith("name ") else problem


def define(tx: Transaction, caller: Caller, request: DefineFunction) -> FunctionDefined:
    judged: Judged = request.result_schema
    agent = targets.find(tx, caller, request.target, "editor").agent
    if agent.kind == "code":
        raise refusals.code_has_no_functions(agent.name)
    saved = functions.of_agent(tx, agent.agent_id)
    earlier = next((each for each in saved if each.name == request.function), None)
    kept = earlier.allowed_callers.split() if earlier else []
    admitted, problems = admitted_by(tx, caller, judged, kept)
    problems = [*judged.problems, *problems]
    if earlier is None and len(saved) >= limits.FUNCTIONS_PER_AGENT_MAX:
        problems.append(f"{agent.name} has {len(saved)} functions; no more are allowed")
    definition = judged.definition
    if problems or definition is None:
        raise invalid_input(problems)
    schema = definition.result_schema
    functions.put(
        tx,
        agent.agent_id,
        definition.name,
        earlier.place if earlier else 1 + max((each.place for each in saved), default=-1),
        definition.description,
        functions.inputs_text(definition.inputs),
        None if schema is None else msgspec.json.encode(schema).decode(),
        " ".join(admitted),
        definition.instructions,
    )
    agents.touch(tx, agent.agent_id)
    return FunctionDefined(
        target_id=agent.agent_id,
        function=definition.name,
        signature=signature(definition.name, definition.inputs),
        created=earlier is None,
    )


def admitted_by(
    db: Snapshot, caller: Caller, judged: Judged, kept: list[str]
) -> tuple[list[str], list[str]]:
    """The allow-list as it is kept, each entry once, and what names nobody in it.

    `kept` is the list before: whom that admits may stay, even when gone.
    """
    admitted: dict[str, None] = {}
    problems = []
    for at, entry in judged.callers:
        found = entry if entry in kept else targets.allowed_caller(db, caller, entry)
        if found is None:
            problems.append(f"{at} names nobody here (got {got(entry)})")
        else:
            admitted[found] = None
    return list(admitted), problems
