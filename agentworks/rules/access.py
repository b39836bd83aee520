"""Who may do what with an agent: the order of roles, and whom a function's allow-list admits.

Contract §2: reader = list, read definitions, read own calls · runner = and send, ask, call ·
editor = and definitions, triggers · owner = and members, state view, messaging switch, programs
a runtime may start.
"""

from __future__ import annotations

from agentworks.contracts.definitions import Role
from agentworks.contracts.operation import ASKING, CALLING, Caller, CallerKind, Scope

ROLES: tuple[Role, ...] = ("reader", "runner", "editor", "owner")

#: Folders of an agent that its readers may look into; all others are for its editors (0020).
OPEN_FOLDERS = frozenset({"outputs"})

_CREWS = frozenset({CallerKind.CREW_BUILDER, CallerKind.CREW_RUN})
_WORKFLOWS = frozenset(
    {
        CallerKind.WORKFLOW_BUILDER,
        CallerKind.WORKFLOW_RUN,
        CallerKind.WORKFLOW_PULSE,
        CallerKind.WORKFLOW_STEP,
    }
)
#: Those who call as the account itself: its people, its programs, and what it left to happen.
_ACCOUNTS = frozenset(
    {
        CallerKind.PERSON,
        CallerKind.CONNECTION,
        CallerKind.CODE,
        CallerKind.SCHEDULE,
        CallerKind.WEBHOOK,
    }
)


def at_least(role: Role, needs: Role) -> bool:
    """True when `role` may do what `needs` may."""
    return ROLES.index(role) >= ROLES.index(needs)


def only_reads(caller: Caller, role: Role, kind: str) -> bool:
    """True when this caller may neither ask nor call an agent of that kind, in that role."""
    may = Scope.RUN in caller.scopes and caller.kind in ASKING | CALLING
    return not (may and at_least(role, "runner")) or kind == "code"


def needs_to_read(path: str) -> Role:
    """The role that may read a file at `path`, below an agent's folder."""
    return "reader" if path.split("/")[0] in OPEN_FOLDERS else "editor"


def identities(caller: Caller) -> frozenset[str]:
    """What an allow-list may name this caller by: `kind:id`.

    A turn that an account launched calls as its agent: admitting the account does not admit the
    agents it runs ([S0] "Workflow to Crew, workflow and Relay").
    """
    if caller.kind in _CREWS:
        return frozenset({f"crew:{caller.agent_id}"})
    if caller.kind in _WORKFLOWS:
        return frozenset({f"workflow:{caller.agent_id}"})
    if caller.kind not in _ACCOUNTS:
        return frozenset()
    found = {f"account:{caller.account_id}"}
    if caller.kind is CallerKind.CONNECTION:
        found.add(f"connection:{caller.connection_id}")
    return frozenset(found)


def admits(allowed_callers: str, caller: Caller) -> bool:
    """Whether a stored allow-list (kind:id, parted by spaces; empty admits all) has this caller."""
    return not allowed_callers or not identities(caller).isdisjoint(allowed_callers.split())
