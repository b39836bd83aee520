"""accounts.connections: every connection this account has given, ended ones too."""

from __future__ import annotations

from agentworks.contracts.accounts import Connections, ListConnections
from agentworks.contracts.operation import Caller
from agentworks.identity import grants
from agentworks.store import Snapshot
from agentworks.tables import connections as table


def connections(db: Snapshot, caller: Caller, request: ListConnections) -> Connections:
    found = table.of_account(db, caller.account_id)
    return Connections(connections=[grants.view(each) for each in found])
