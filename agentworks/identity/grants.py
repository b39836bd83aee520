"""Grants: connections as they are made, ended and shown to the person they act for."""

from __future__ import annotations

from agentworks import clock
from agentworks.contracts.accounts import ConnectionView
from agentworks.contracts.operation import Scope
from agentworks.rules import limits, refusals
from agentworks.rules.sign_in import in_order
from agentworks.store import Transaction
from agentworks.tables import connections, tokens
from agentworks.tables.connections import Connection, Owned

_DAY = 86_400_000  # milliseconds


def make(
    tx: Transaction,
    account_id: str,
    label: str,
    scopes: list[Scope],
    targets: list[str],
    expires_days: int,
) -> str:
    """A new connection of this account; returns its id. No targets means all of them.

    Raises Refuse(not_permitted) when the account has as many as it may.
    """
    most = limits.CONNECTIONS_PER_ACCOUNT_MAX
    if connections.count_live(tx, account_id) >= most:
        raise refusals.too_many_connections(most)
    bounds, end = bounds_of(targets), end_of(tx.now, expires_days)
    return connections.add(tx, account_id, label, in_order(scopes), bounds, end)


def end(tx: Transaction, connection_id: str) -> None:
    """It and its tokens stop working at once. Ending it again changes nothing."""
    connections.revoke(tx, connection_id)
    tokens.end_all(tx, connection_id)


def bounds_of(targets: list[str]) -> str | None:
    """As they are kept: each once, parted by spaces; None is every target."""
    return " ".join(dict.fromkeys(targets)) or None


def end_of(now: int, expires_days: int) -> int | None:
    """Milliseconds; None is never."""
    return now + expires_days * _DAY if expires_days else None


def view(found: Connection | Owned) -> ConnectionView:
    """A connection as its person sees it."""
    return ConnectionView(
        connection_id=found.connection_id,
        label=found.label,
        scopes=[Scope(word) for word in found.scopes.split()],
        targets=(found.targets or "").split(),
        created_at=clock.rfc3339(found.created_at),
        last_used_at=moment(found.last_used_at),
        expires_at=moment(found.expires_at),
        revoked_at=moment(found.revoked_at),
    )


def moment(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else clock.rfc3339(milliseconds)
