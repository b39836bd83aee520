"""calls.list: the calls you made or whose target you own, newest first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from heapq import merge
from itertools import groupby, islice

from msgspec import UNSET

from agentworks import clock, targets, visible_calls
from agentworks.contracts.calls import CallLine, CallList, ListCalls
from agentworks.contracts.operation import Caller
from agentworks.rules import access, limits
from agentworks.store import Snapshot
from agentworks.tables import agents, call_pages
from agentworks.tables.call_pages import Line
from agentworks.targets import Target

_END = 2**63 - 1  # milliseconds: after every call

#: The next so many calls below (accepted_at, call_id), newest first.
Source = Callable[[int, str, int], list[Line]]


def list_calls(db: Snapshot, caller: Caller, request: ListCalls) -> CallList:
    """Looks through a bounded number of calls, so a page costs the same among very many."""
    only, sources = where_to_look(db, caller, request)
    size = min(request.limit, limits.CALLS_PER_PAGE_MAX)
    choosy = only is not None or request.state is not UNSET
    most = limits.CALLS_SCANNED_MAX if choosy else size + 1
    at, call_id = beginning(request)
    found = newest([source(at, call_id, most) for source in sources], most)
    page: list[CallLine] = []
    seen: dict[str, Target | None] = {}
    for place, line in enumerate(found):
        if len(page) == size:
            return CallList(calls=page, next_before=cursor(found[place - 1]))
        if only is None or line.agent_id == only:
            target = target_of(db, caller, line.agent_id, seen)
            if target is not None and fits(caller, line, target, request):
                page.append(shown(line, target))
    return CallList(calls=page, next_before=cursor(found[-1]) if len(found) == most else None)


def where_to_look(
    db: Snapshot, caller: Caller, request: ListCalls
) -> tuple[str | None, list[Source]]:
    """Indexes that hold only what the caller may know of, and the one agent to choose there."""
    made: Source = partial(call_pages.of_account, db, caller.account_id)
    if request.target is not UNSET:
        target = targets.find(db, caller, request.target, "reader", request)
        if not caller.agent_id and access.at_least(target.role, "editor"):
            return None, [partial(call_pages.of_agent, db, target.agent.agent_id)]
        return target.agent.agent_id, [made]
    if caller.agent_id:
        return None, [made]
    return None, [made, partial(call_pages.of_owner, db, caller.account_id)]


def beginning(request: ListCalls) -> tuple[int, str]:
    """The place below which the page begins."""
    if request.before is UNSET:
        return _END, ""
    at, _, call_id = request.before.partition("-")
    return int(at), call_id


def cursor(line: Line) -> str:
    return f"{line.accepted_at}-{line.call_id}"


def newest(pages: list[list[Line]], most: int) -> list[Line]:
    """Several pages as one: in order, each call once."""
    by_age = merge(*pages, key=place_of, reverse=True)
    return [next(same) for _, same in islice(groupby(by_age, key=place_of), most)]


def place_of(line: Line) -> tuple[int, str]:
    return line.accepted_at, line.call_id


def target_of(
    db: Snapshot, caller: Caller, agent_id: str, seen: dict[str, Target | None]
) -> Target | None:
    """The agent as this caller sees it; None when it no longer may."""
    if agent_id not in seen:
        agent = agents.by_id(db, agent_id)
        seen[agent_id] = targets.seen(db, caller, agent) if agent else None
    return seen[agent_id]


def fits(caller: Caller, line: Line, target: Target, request: ListCalls) -> bool:
    """Whether the caller may see the call, by the rule of `visible_calls.find`, and wants it."""
    if request.state is not UNSET and line.state != request.state:
        return False
    if visible_calls.made(caller, line.account_id, line.caller_chat_id):
        return True
    return not caller.agent_id and access.at_least(target.role, "editor")


def shown(line: Line, target: Target) -> CallLine:
    return CallLine(
        call_id=line.call_id,
        target=target.agent.name,
        function=line.function,
        state=line.state,
        caller=line.caller_name,
        accepted_at=clock.rfc3339(line.accepted_at),
        settled_at=None if line.settled_at is None else clock.rfc3339(line.settled_at),
    )
