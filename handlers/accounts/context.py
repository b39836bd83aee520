"""accounts.context: who you are to this server, and what this connection may do."""

from __future__ import annotations

from agentworks import __version__
from agentworks.contracts.accounts import ConnectionView, Context, GetContext
from agentworks.contracts.operation import Caller, CallerKind, Scope
from agentworks.identity import grants
from agentworks.store import Snapshot
from agentworks.tables import connections, registrations


def context(db: Snapshot, caller: Caller, request: GetContext) -> Context:
    names = usable_names(db, caller)
    return Context(
        server_version=__version__,
        account_id=caller.account_id,
        account_name=caller.account_name,
        kind=caller.kind.value,
        connection=own_connection(db, caller),
        agents=names,
        next=next_step(caller, names),
    )


def usable_names(db: Snapshot, caller: Caller) -> list[str]:
    """The names this caller may speak and read as: a person manages all, a connection its own."""
    return [
        f"agent:{each.name}"
        for each in registrations.of_account(db, caller.account_id)
        if caller.kind is CallerKind.PERSON
        or registrations.may_use(db, each.registration_id, caller.connection_id)
    ]


def own_connection(db: Snapshot, caller: Caller) -> ConnectionView | None:
    found = connections.find(db, caller.account_id, caller.connection_id)
    return None if found is None else grants.view(found)


def next_step(caller: Caller, names: list[str]) -> str:
    if caller.kind is CallerKind.PERSON:
        return "let programs in, change and revoke them on the Connect page"
    if Scope.RUN not in caller.scopes:
        return "this connection may only look; a person can widen it on the Connect page"
    if not names:
        return "messages.list_agents shows whom to write to; messages.register takes a name"
    return f"messages.read with agent_name={names[0].removeprefix('agent:')} shows what arrived"
