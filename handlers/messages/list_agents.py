"""messages.list_agents: this account's directory of named agents."""

from __future__ import annotations

from agentworks import clock
from agentworks.contracts.messages import Directory, ListNamedAgents, NamedAgent
from agentworks.contracts.operation import Caller
from agentworks.store import Snapshot
from agentworks.tables import registrations


def list_agents(db: Snapshot, caller: Caller, request: ListNamedAgents) -> Directory:
    allowed: dict[str, list[str]] = {}
    for permission in registrations.permissions(db, caller.account_id):
        allowed.setdefault(permission.registration_id, []).append(permission.connection_id)
    return Directory(
        agents=[
            NamedAgent(
                registration_id=each.registration_id,
                agent_name=each.name,
                address=f"agent:{each.name}",
                yours=caller.connection_id in allowed.get(each.registration_id, ()),
                registered_at=clock.rfc3339(each.registered_at),
                allowed_connection_ids=allowed.get(each.registration_id, []),
            )
            for each in registrations.of_account(db, caller.account_id)
        ]
    )
