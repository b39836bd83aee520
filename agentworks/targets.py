"""The one place where a target's name or id becomes an agent this caller may use.

[S4] "Agents": a target is a name or an id, and a name that several agents have is refused with
them all. What the caller may not see does not exist for it (contract §2): not by its name, not by
its id, not outside the bounds of its connection.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Struct

from agentworks.contracts.definitions import Role
from agentworks.contracts.operation import Caller
from agentworks.contracts.refusal import Match
from agentworks.rules import access, names
from agentworks.rules import refusals_of_agents as refusals
from agentworks.rules.strict_json import text_problem
from agentworks.store import Snapshot
from agentworks.tables import accounts, agents, connections, members
from agentworks.tables.agents import Agent, Shown

_MATCHES_TOLD_MAX = 20  # agents named in one refusal


class Target(Struct, frozen=True):
    """An agent, and the role its caller has on it."""

    agent: Agent
    role: Role


def find(
    db: Snapshot, caller: Caller, target: str, needs: Role, request: Struct | None = None
) -> Target:
    """The agent meant by `target`, on which the caller has the role `needs` or a higher one.

    `needs` of runner is for whoever wants to message, ask or call it, which no code agent takes.
    Given the whole `request`, a refusal carries it as `try`, with the target put right. Raises
    Refuse: not_found, ambiguous_target, not_permitted.
    """
    found = matching(db, caller, target)
    if needs == "runner" and len(found) > 1:
        found = [each for each in found if each.agent.kind != "code"]
    if not found:
        raise unknown(db, caller, target, needs, request)
    if len(found) > 1:
        raise ambiguous(target, found, needs, request)
    (meant,) = found
    if not access.at_least(meant.role, needs):
        raise refusals.role_too_low(meant.agent.name, meant.role, needs)
    if needs == "runner" and meant.agent.kind == "code":
        raise refusals.code_is_private(meant.agent.name)
    return meant


def matching(db: Snapshot, caller: Caller, target: str) -> list[Target]:
    """Every agent that `target` may mean to this caller; an id means one and goes first."""
    if text_problem(target) is not None:
        return []  # no text that could be stored, and so nobody's
    by_id = agents.by_id(db, target.lower())
    meant = seen(db, caller, by_id) if by_id else None
    if meant is not None:
        return [meant]
    key = names.name_key(target)
    alike = agents.by_name(db, key) if key else []
    return [each for agent in alike if (each := seen(db, caller, agent)) is not None]


def seen(db: Snapshot, caller: Caller, agent: Agent) -> Target | None:
    """The agent with this caller's role on it, or None when it may not see it."""
    if caller.bounds is not None and agent.agent_id not in caller.bounds:
        return None
    if agent.account_id == caller.account_id:
        return Target(agent, "owner")
    if agent.kind == "code":
        return None
    role = members.role_of(db, agent.agent_id, caller.account_id)
    return None if role is None else Target(agent, cast(Role, role))


def visible(db: Snapshot, caller: Caller) -> list[Shown]:
    """Every agent this caller may see, by name."""
    bounds = caller.bounds
    found = agents.visible(db, caller.account_id)
    return found if bounds is None else [each for each in found if each.agent_id in bounds]


def unknown(
    db: Snapshot, caller: Caller, target: str, needs: Role, request: Struct | None = None
) -> Exception:
    """The refusal of a target that is nobody's to see; names the nearest, if they may be used."""
    usable = {
        each.name: each.agent_id
        for each in visible(db, caller)
        if access.at_least(cast(Role, each.role), needs)
        and not (needs == "runner" and each.kind == "code")
    }
    near = names.near(target, usable)
    meant = None
    if len(near) == 1:
        alone = len(matching(db, caller, near[0])) == 1
        meant = near[0] if alone else usable[near[0]]
    return refusals.unknown_agent(target, near, instead(request, meant))


def ambiguous(
    target: str, found: list[Target], needs: Role, request: Struct | None = None
) -> Exception:
    usable = [each for each in found if access.at_least(each.role, needs)]
    first = usable[0].agent.agent_id if usable else None
    matches = [
        Match(name=each.agent.name, id=each.agent.agent_id, kind=each.agent.kind)
        for each in found[:_MATCHES_TOLD_MAX]
    ]
    return refusals.ambiguous_target(target, matches, instead(request, first))


def instead(request: Struct | None, target: str | None) -> dict[str, Any] | None:
    """The request's own arguments with another target: what was left out stays out."""
    if request is None or target is None:
        return None
    args: dict[str, Any] = msgspec.to_builtins(request)
    return args | {"target": target}


def allowed_caller(db: Snapshot, caller: Caller, entry: str) -> str | None:
    """An entry of an allow-list as it is kept, `kind:id`; None when it names nobody.

    Accounts may be written by name, agents by a name that this caller sees; an id is taken from
    whoever knows it, since knowing it grants nothing.
    """
    kind, _, whom = entry.partition(":")
    if kind == "account":
        account = accounts.by_id(db, whom) or accounts.by_name(db, whom)
        return f"account:{account.account_id}" if account else None
    if kind == "connection":
        return entry if connections.knows(db, whom) else None
    by_id = agents.by_id(db, whom.lower())
    if by_id is not None and by_id.kind == kind:
        return f"{kind}:{by_id.agent_id}"
    named = [each.agent for each in matching(db, caller, whom) if each.agent.kind == kind]
    return f"{kind}:{named[0].agent_id}" if len(named) == 1 else None
