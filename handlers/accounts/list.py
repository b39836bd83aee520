"""accounts.list: the accounts of this server, for its owner."""

from __future__ import annotations

from agentworks import clock
from agentworks.contracts.accounts import Accounts, AccountView, ListAccounts
from agentworks.contracts.operation import Caller
from agentworks.identity import grants
from agentworks.rules import refusals
from agentworks.store import Snapshot
from agentworks.tables import accounts


def list_accounts(db: Snapshot, caller: Caller, request: ListAccounts) -> Accounts:
    if not caller.owner:
        raise refusals.owner_only()
    return Accounts(
        accounts=[
            AccountView(
                account_id=each.account_id,
                account_name=each.name,
                owner=bool(each.owner),
                created_at=clock.rfc3339(each.created_at),
                disabled_at=grants.moment(each.disabled_at),
            )
            for each in accounts.every(db)
        ]
    )
