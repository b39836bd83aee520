"""accounts.disable: shut an account out at once. Doing it again changes nothing."""

from __future__ import annotations

from agentworks.contracts.accounts import AccountDisabled, DisableAccount
from agentworks.contracts.operation import Caller
from agentworks.rules import refusals
from agentworks.store import Transaction
from agentworks.tables import accounts, sessions


def disable(tx: Transaction, caller: Caller, request: DisableAccount) -> AccountDisabled:
    if not caller.owner:
        raise refusals.owner_only()
    found = accounts.by_id(tx, request.account_id)
    if found is None:
        raise refusals.unknown_account(request.account_id)
    if found.owner:
        raise refusals.owner_stays()
    accounts.disable(tx, found.account_id)  # its connections are refused while this stands
    sessions.end_all(tx, found.account_id)
    return AccountDisabled(account_id=found.account_id)
