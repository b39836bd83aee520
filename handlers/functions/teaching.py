"""What somebody is told whose call of a function cannot even be read: the rest of it is judged too.

All problems at once ([S4]): an input given beside `args`, or a target left out, should not hide
what else is wrong, and the corrected call should be one that is accepted.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from agentworks import admission, decoding, targets
from agentworks.admission import Wanted
from agentworks.contracts.functions import CallFunction
from agentworks.contracts.operation import Caller
from agentworks.contracts.refusal import Refuse, Refused
from agentworks.rules import access, arguments, weights
from agentworks.store import Snapshot
from agentworks.tables import agents, functions
from agentworks.tables.agents import Agent

_LOOKED_AT_MAX = 100  # agents looked at for one that has the function
_WANTED = frozenset(Wanted.__struct_fields__)


def teach(db: Snapshot, caller: Caller, given: dict[str, Any], refused: Refused) -> Refused:
    """The refusal of an unreadable call, with what is wrong with the call it seems to mean."""
    meant = None if weights.heavy(given) else understood(given, refused)
    if meant is None:
        return refused
    filled = [each for each in refused.placeholders if each in _WANTED]
    if filled:
        meant |= somewhere(db, caller, meant, filled)
    args, strays = with_strays(db, caller, meant, given)
    hints = [f"{name} is an input of {meant['function']}: it belongs into args" for name in strays]
    problems = [*refused.problems, *hints]
    wanted = msgspec.convert(meant | {"args": args}, Wanted)
    try:
        admission.judge(db, caller, wanted)
    except Refuse as refusal:
        further = refusal.refused
        return msgspec.structs.replace(
            further,
            code=refused.code,
            problems=problems if filled else [*problems, *further.problems],
            placeholders=[*filled, *further.placeholders] if further.try_ else [],
        )
    return msgspec.structs.replace(
        refused, problems=problems, try_=msgspec.to_builtins(wanted), placeholders=filled
    )


def understood(given: dict[str, Any], refused: Refused) -> dict[str, Any] | None:
    """What of a call can be read: as decoding puts it right, or but for how it is to be waited for
    and remembered, which no `try` holds."""
    told = refused.try_
    if told is None:
        told = {name: given[name] for name in given if name in _WANTED}
        if not isinstance(told.get("notify", True), bool):
            return None  # without it, the call would mean something else
    try:
        msgspec.convert(told, CallFunction)
    except msgspec.ValidationError:
        return None
    return {name: value for name, value in told.items() if name in _WANTED}


def with_strays(
    db: Snapshot, caller: Caller, meant: dict[str, Any], given: dict[str, Any]
) -> tuple[Any, list[str]]:
    """`args` with the inputs of the function that were given beside it, and the names of those."""
    args = meant.get("args", UNSET)
    inside = arguments.read_args(args)[0]
    known = {each.name for each in decoding.fields(CallFunction)}
    beside = [name for name in given if name not in known][: arguments.UNKNOWN_NAMES_TOLD_MAX]
    if not beside or inside is None:
        return args, []
    names = inputs_of(db, caller, meant)
    moved, strays = dict(inside), []
    for name in beside:
        near = arguments.nearest(name, names)
        if near is not None and near not in moved:
            moved[near] = given[name]
            strays.append(near)
    return (moved, strays) if strays else (args, [])


def inputs_of(db: Snapshot, caller: Caller, meant: dict[str, Any]) -> list[str]:
    try:
        agent = targets.find(db, caller, meant["target"], "runner").agent
    except Refuse:
        return []
    function = functions.find(db, agent.agent_id, meant["function"])
    known = function is not None and access.admits(function.allowed_callers, caller)
    return [each.name for each in function.declared] if function and known else []


# ── for a call that does not say of whom, or which ───────────────────────────────────────────


def somewhere(
    db: Snapshot, caller: Caller, meant: dict[str, Any], filled: list[str]
) -> dict[str, Any]:
    """A target, a function, or both, that this caller may use: with what the call does say."""
    for agent in candidates(db, caller, meant, filled):
        names = [
            each.name
            for each in functions.offered(db, agent.agent_id)
            if access.admits(each.allowed_callers, caller)
        ]
        which = names[:1] if "function" in filled else [meant["function"]]
        if which and arguments.nearest(which[0], names):
            target = agent.name if "target" in filled else meant["target"]
            return {"target": target, "function": which[0]}
    return {}


def candidates(
    db: Snapshot, caller: Caller, meant: dict[str, Any], filled: list[str]
) -> list[Agent]:
    if "target" not in filled:
        try:
            return [targets.find(db, caller, meant["target"], "runner").agent]
        except Refuse:
            return []
    found = [
        agents.by_id(db, each.agent_id)
        for each in targets.visible(db, caller)[:_LOOKED_AT_MAX]
        if each.role != "reader" and each.kind != "code"
    ]
    return [each for each in found if each is not None and each.runtime is not None]
