"""accounts.invite: a one-time link with which one more person joins this server."""

from __future__ import annotations

from agentworks import clock
from agentworks.contracts.accounts import Invite, Invited
from agentworks.contracts.operation import Caller
from agentworks.identity import people
from agentworks.rules import refusals
from agentworks.store import Transaction


def invite(tx: Transaction, caller: Caller, request: Invite) -> Invited:
    if not caller.owner:
        raise refusals.owner_only()
    token, expires_at = people.invite(tx, request.account_name)
    return Invited(
        account_name=request.account_name, token=token, expires_at=clock.rfc3339(expires_at)
    )
