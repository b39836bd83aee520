"""messages.unregister: remove a name; what was written to it stays with its conversations."""

from __future__ import annotations

from agentworks.contracts.messages import UnregisterAgent, Unregistered
from agentworks.contracts.operation import Caller
from agentworks.rules import refusals
from agentworks.store import Transaction
from agentworks.tables import registrations


def unregister(tx: Transaction, caller: Caller, request: UnregisterAgent) -> Unregistered:
    found = registrations.by_name(tx, caller.account_id, request.agent_name)
    if found is None:
        known = [f"agent:{each.name}" for each in registrations.of_account(tx, caller.account_id)]
        raise refusals.unknown_name(request.agent_name, known[:10])
    if caller.connection_id and not registrations.may_use(
        tx, found.registration_id, caller.connection_id
    ):
        raise refusals.not_your_name(found.name)
    registrations.remove(tx, found.registration_id)
    tx.ring(found.bell)  # whoever waits on the mailbox learns that it is gone
    return Unregistered(registration_id=found.registration_id, agent_name=found.name)
