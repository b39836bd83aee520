"""messages.register: an account-owned address, and the connections that may use it."""

from __future__ import annotations

from msgspec import UNSET

from agentworks.contracts.messages import RegisterAgent, Registration
from agentworks.contracts.operation import Caller
from agentworks.rules import limits, refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import connections, registrations
from agentworks.tables.registrations import Registered


def register(tx: Transaction, caller: Caller, request: RegisterAgent) -> Registration:
    found = registrations.by_name(tx, caller.account_id, request.agent_name)
    if found is None:
        refuse_one_too_many(tx, caller)
    elif caller.connection_id and not registrations.may_use(
        tx, found.registration_id, caller.connection_id
    ):
        raise refusals.not_your_name(found.name)
    allowed = allowed_by(tx, caller, request, found)
    agent = found or registrations.add(tx, caller.account_id, request.agent_name)
    registrations.allow_nobody(tx, agent.registration_id)
    for connection_id in allowed:
        registrations.allow(tx, agent.registration_id, connection_id)
    return Registration(
        registration_id=agent.registration_id,
        agent_name=agent.name,
        address=agent.address,
        allowed_connection_ids=allowed,
        created=found is None,
        next=f"read with agent_name {agent.name}; others write to {agent.address}",
    )


def refuse_one_too_many(db: Snapshot, caller: Caller) -> None:
    most = limits.REGISTRATIONS_PER_ACCOUNT_MAX
    if registrations.count_of_account(db, caller.account_id) >= most:
        raise refusals.too_many_names("this account", most)
    most = limits.REGISTRATIONS_PER_STORE_MAX
    if registrations.count(db) >= most:
        raise refusals.too_many_names("this server", most)


def allowed_by(
    db: Snapshot, caller: Caller, request: RegisterAgent, found: Registered | None
) -> list[str]:
    """Who may use the name from now on: whoever registers it, and those it lists."""
    if request.allowed_connection_ids is UNSET:
        if found is not None:
            return registrations.allowed(db, found.registration_id)
        listed: set[str] = set()
    else:
        listed = set(request.allowed_connection_ids)
    unknown = [
        each for each in sorted(listed) if not connections.is_live(db, caller.account_id, each)
    ]
    if unknown:
        raise refusals.unknown_connections(unknown)
    return sorted(listed | ({caller.connection_id} if caller.connection_id else set()))
