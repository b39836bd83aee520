"""How this server says no about agents, their definitions and their files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentworks.contracts.definitions import Role
from agentworks.contracts.refusal import Match, RefusalCode, Refuse, Refused
from agentworks.rules.refusals import invalid_input, refuse
from agentworks.rules.wording import shown

# ── targets ──────────────────────────────────────────────────────────────────────────────────


def unknown_agent(
    target: str, near: Sequence[str] = (), try_: dict[str, Any] | None = None
) -> Refuse:
    """Unknown, or not for this caller to see: the same words for both (contract §2)."""
    hint = f"did you mean {' or '.join(near)}?" if near else "agents.list shows who is there"
    return refuse(RefusalCode.NOT_FOUND, f"no agent {shown(target)}; {hint}", try_=try_)


def ambiguous_target(
    target: str, matches: list[Match], try_: dict[str, Any] | None = None
) -> Refuse:
    return Refuse(
        Refused(
            code=RefusalCode.AMBIGUOUS_TARGET,
            problems=[f"{shown(target)} may mean {len(matches)} agents; say which by its id"],
            try_=try_,
            placeholders=["target"] if try_ else [],
            matches=matches,
        )
    )


def role_too_low(name: str, role: Role, needs: Role) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        f"this needs the role {needs} on {name}, and you have the role {role}; its owner can "
        "change that",
    )


def code_is_private(name: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        f"{name} is a code agent: it sends and calls, and takes neither messages nor calls",
    )


# ── definitions ──────────────────────────────────────────────────────────────────────────────


def not_within_bounds() -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        "this connection may reach some agents only, so it cannot make new ones; a person can "
        "widen it on the Connect page",
    )


def needs_owner(problems: list[str]) -> Refuse:
    return refuse(RefusalCode.NOT_PERMITTED, *problems)


def too_many_agents(limit: int) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED, f"this account already has {limit:,} agents; delete one first"
    )


def unknown_function(
    target: str, function: str, signatures: list[str], try_: dict[str, Any] | None = None
) -> Refuse:
    return Refuse(
        Refused(
            code=RefusalCode.UNKNOWN_FUNCTION,
            problems=[f"{target} has no function {shown(function)}"],
            try_=try_,
            functions=signatures,
        )
    )


def code_has_no_functions(name: str) -> Refuse:
    return invalid_input([f"target {name} is a code agent, which has no functions"])


def code_has_no_members(name: str) -> Refuse:
    return invalid_input([f"target {name} is a code agent, which is its owner's alone"])


def too_many_members(name: str, limit: int) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED, f"{name} already has {limit} members; remove one first"
    )


def owner_is_no_member(name: str) -> Refuse:
    return invalid_input([f"account_name {name} owns this agent and needs no role on it"])


# ── files ────────────────────────────────────────────────────────────────────────────────────


def unknown_file(path: str) -> Refuse:
    return refuse(RefusalCode.NOT_FOUND, f"no file {shown(path)}; files.list shows what there is")


def not_writable(path: str, why: Exception) -> Refuse:
    """The agent has put something else in its place, such as a folder."""
    told = getattr(why, "strerror", None) or "; ".join(map(str, why.args))
    return invalid_input([f"path {shown(path)} cannot be written: {told}"])
