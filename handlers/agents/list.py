"""agents.list: who is there, what each can do, and who is busy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec import UNSET

from agentworks import targets
from agentworks.contracts.agents import AgentLine, AgentList, ListAgents
from agentworks.contracts.definitions import Role
from agentworks.contracts.operation import Caller
from agentworks.rules import access, limits, listings
from agentworks.store import Snapshot
from agentworks.tables import agents, functions
from agentworks.tables.agents import Running, Shown
from agentworks.tables.functions import Offered

_HOW = "ask(target, message) for anything; call_function(target, function, args) to run one."
_ONLY_LOOK = "this caller may only look: no ask, no call"
_NOBODY = "no agent is here yet; `agentworks apply DIR` makes those a folder declares"


def list_agents(db: Snapshot, caller: Caller, request: ListAgents) -> AgentList:
    found = chosen(db, caller, request)
    end = request.offset + min(request.limit, limits.AGENTS_PER_PAGE_MAX)
    page = found[request.offset : end]
    more = len(found) > end
    turns: dict[str, list[Running]] = {}
    for turn in agents.running(db) if page else ():
        turns.setdefault(turn.agent_id, []).append(turn)
    return AgentList(
        agents=[line(db, caller, each, turns.get(each.agent_id, [])) for each in page],
        next=next_step(caller, found, f"offset={end} shows more. " if more else ""),
        more=more,
    )


def chosen(db: Snapshot, caller: Caller, request: ListAgents) -> list[Shown]:
    """Every visible agent that the request asks for, by name."""
    found = targets.visible(db, caller)
    if request.kind is not UNSET:
        found = [each for each in found if each.kind == request.kind]
    if not request.query.strip():
        return found
    named: dict[str, list[str]] = {}
    for each in functions.names_visible(db, caller.account_id):
        if access.admits(each.allowed_callers, caller):
            named.setdefault(each.agent_id, []).append(each.name)
    return [
        each
        for each in found
        if listings.is_meant(request.query, each.name, each.about, named.get(each.agent_id, []))
    ]


def line(db: Snapshot, caller: Caller, shown: Shown, turns: list[Running]) -> AgentLine:
    role = cast(Role, shown.role)
    offered = [
        each
        for each in functions.offered(db, shown.agent_id)
        if access.admits(each.allowed_callers, caller)
    ]
    return AgentLine(
        name=shown.name,
        id=shown.agent_id,
        kind=shown.kind,
        about=listings.about_shown(shown.about),
        functions=listings.signatures_shown([(each.name, each.declared) for each in offered]),
        busy=listings.busy_shown([doing(caller, role, turn, offered) for turn in turns]),
        can="read only" if access.only_reads(caller, role, shown.kind) else "",
    )


def doing(caller: Caller, role: Role, turn: Running, offered: Sequence[Offered]) -> str:
    """What a turn is about. Arguments are for those who may read the call (contract §5)."""
    known = {each.name: each.declared for each in offered}
    if turn.function not in (None, listings.ASK, *known):
        return listings.A_CALL
    theirs = role == "owner" or turn.account_id == caller.account_id
    args = turn.args if theirs else None
    return listings.busy_with(turn.cause, turn.function, args, known.get(turn.function or "", ()))


def next_step(caller: Caller, found: list[Shown], more: str) -> str:
    if not found:
        return _NOBODY
    looking = all(access.only_reads(caller, cast(Role, each.role), each.kind) for each in found)
    return more + (_ONLY_LOOK if looking else _HOW)
