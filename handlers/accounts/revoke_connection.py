"""accounts.revoke_connection: end a connection at once. Doing it again changes nothing."""

from __future__ import annotations

from agentworks.contracts.accounts import ConnectionRevoked, RevokeConnection
from agentworks.contracts.operation import Caller
from agentworks.identity import grants
from agentworks.rules import refusals
from agentworks.store import Transaction
from agentworks.tables import connections


def revoke_connection(
    tx: Transaction, caller: Caller, request: RevokeConnection
) -> ConnectionRevoked:
    if connections.find(tx, caller.account_id, request.connection_id) is None:
        raise refusals.unknown_connection(request.connection_id)
    grants.end(tx, request.connection_id)
    return ConnectionRevoked(connection_id=request.connection_id)
