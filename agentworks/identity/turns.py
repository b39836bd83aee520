"""Who acts in a running turn: its agent, with the access of whoever launched it (contract §2).

The launch account, its role on the agent and the launch connection are read anew each time, so
whoever loses access loses it for what already runs, too.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agentworks.contracts.operation import Caller, CallerKind, Scope
from agentworks.identity.secrets import hashed
from agentworks.rules import refusals
from agentworks.store import Snapshot
from agentworks.tables import accounts, connections, turn_tokens

PREFIX = "awt"  # of every turn token: `awt_…`
_ROLES = ("runner", "editor", "owner")  # those that may start work of an agent
_SCOPES = frozenset({Scope.READ, Scope.RUN})  # defining agents is no part of any turn


class Launch(Struct, frozen=True):
    """Whose access a turn uses: an account, and the connection it came by, if one."""

    account_id: str
    connection_id: str | None = None


class Granted(Struct, frozen=True):
    """The access of a launch as it is now."""

    account_name: str
    scopes: frozenset[Scope]
    bounds: frozenset[str] | None
    owns_agent: bool


class Lost(Exception):
    """The access a turn was launched with is gone; the text says why, for whoever waits."""


def turn(token: str) -> Callable[[Snapshot], Caller]:
    """The agent that acts in a running turn, by the turn's token."""
    secret_hash = hashed(token)

    def who(db: Snapshot) -> Caller:
        acting = turn_tokens.by_secret(db, secret_hash)
        if acting is None:
            raise refusals.not_signed_in()
        try:
            launch = Launch(acting.account_id, acting.connection_id)
            granted = standing(db, launch, acting.agent_id)
        except Lost:
            raise refusals.not_signed_in() from None
        return Caller(
            kind=CallerKind(acting.caller_kind),
            account_id=acting.account_id,
            account_name=granted.account_name,
            scopes=granted.scopes,
            connection_id=acting.connection_id or "",
            label=acting.agent_name,
            bounds=granted.bounds,
            agent_id=acting.agent_id,
            chat_id=acting.chat_id,
            turn_id=acting.turn_id,
            call_id=acting.call_id or "",
            replies_only=bool(acting.replies_only),
        )

    return who


def standing(db: Snapshot, launch: Launch, agent_id: str) -> Granted:
    """What a launch may still do with an agent. Raises Lost with the first thing that is gone."""
    account = accounts.by_id(db, launch.account_id)
    if account is None or account.disabled_at is not None:
        raise Lost("the account it was launched with is disabled")
    found = turn_tokens.standing(db, agent_id, launch.account_id)
    owns = found is not None and found.agent_account_id == launch.account_id
    if found is None or not (owns or found.role in _ROLES):
        raise Lost(f"the account {account.name} may no longer run this agent")
    scopes, bounds = _SCOPES, None
    if launch.connection_id is not None:
        held = connections.find(db, launch.account_id, launch.connection_id)
        if held is None or connections.live(db, launch.connection_id) is None:
            raise Lost("the connection it was launched with was revoked or has run out")
        scopes &= frozenset(Scope(word) for word in held.scopes.split())
        bounds = None if held.targets is None else frozenset(held.targets.split())
        if Scope.RUN not in scopes:
            raise Lost("the connection it was launched with may no longer start work")
        if bounds is not None and agent_id not in bounds:
            raise Lost("the connection it was launched with may no longer reach this agent")
    return Granted(account.name, scopes, bounds, owns)
