"""accounts.change_connection: rename, widen, narrow or date a connection that still works."""

from __future__ import annotations

from msgspec import UNSET

from agentworks.contracts.accounts import ChangeConnection, ConnectionChanged
from agentworks.contracts.operation import Caller
from agentworks.identity import grants
from agentworks.rules import refusals
from agentworks.rules.sign_in import in_order, label_problems, target_problems
from agentworks.store import Transaction
from agentworks.tables import connections
from agentworks.tables.connections import Connection


def change_connection(
    tx: Transaction, caller: Caller, request: ChangeConnection
) -> ConnectionChanged:
    found = connections.find(tx, caller.account_id, request.connection_id)
    if found is None:
        raise refusals.unknown_connection(request.connection_id)
    if not connections.is_live(tx, caller.account_id, request.connection_id):
        raise refusals.connection_ended(request.connection_id)
    changed = with_changes(tx.now, found, request)
    connections.change(
        tx,
        changed.connection_id,
        changed.label,
        changed.scopes,
        changed.targets,
        changed.expires_at,
    )
    return ConnectionChanged(connection=grants.view(changed))


def with_changes(now: int, found: Connection, request: ChangeConnection) -> Connection:
    """The connection as it is asked to be; what the request leaves out stays as it is."""
    label = found.label if request.label is UNSET else request.label
    scopes = found.scopes if request.scopes is UNSET else in_order(request.scopes)
    targets, expires_at = found.targets, found.expires_at
    problems = [] if request.label is UNSET else label_problems(label)
    if request.targets is not UNSET:
        problems += target_problems(request.targets)
        targets = grants.bounds_of(request.targets)
    if request.expires_days is not UNSET:
        expires_at = grants.end_of(now, request.expires_days)
    if problems:
        raise refusals.invalid_input(problems)
    return Connection(
        connection_id=found.connection_id,
        account_id=found.account_id,
        label=label,
        scopes=scopes,
        targets=targets,
        created_at=found.created_at,
        last_used_at=found.last_used_at,
        expires_at=expires_at,
        revoked_at=None,
    )
