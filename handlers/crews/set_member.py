"""crews.set_member: give an account a role on an agent, or take it away."""

from __future__ import annotations

from msgspec import UNSET

from agentworks import targets
from agentworks.contracts.crews import MemberSet, SetMember
from agentworks.contracts.operation import Caller
from agentworks.rules import limits
from agentworks.rules import refusals_of_agents as refusals
from agentworks.rules.refusals import unknown_account
from agentworks.store import Transaction
from agentworks.tables import accounts, members


def set_member(tx: Transaction, caller: Caller, request: SetMember) -> MemberSet:
    agent = targets.find(tx, caller, request.target, "owner", request).agent
    account = accounts.by_name(tx, request.account_name)
    if account is None:
        raise unknown_account(request.account_name)
    if account.account_id == agent.account_id:
        raise refusals.owner_is_no_member(account.name)
    if agent.kind == "code":
        raise refusals.code_has_no_members(agent.name)
    if request.role is UNSET:
        members.remove(tx, agent.agent_id, account.account_id)
        return MemberSet(agent_id=agent.agent_id, account_name=account.name, role=None)
    given = members.of_agent(tx, agent.agent_id)
    known = any(each.account_id == account.account_id for each in given)
    if not known and len(given) >= limits.MEMBERS_PER_AGENT_MAX:
        raise refusals.too_many_members(agent.name, limits.MEMBERS_PER_AGENT_MAX)
    members.put(tx, agent.agent_id, account.account_id, request.role)
    return MemberSet(agent_id=agent.agent_id, account_name=account.name, role=request.role)
