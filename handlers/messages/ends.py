"""Which end of a conversation a caller speaks or reads for (contract §4)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agentworks import inboxes
from agentworks.contracts.operation import Caller
from agentworks.rules import limits, refusals
from agentworks.store import Snapshot
from agentworks.tables import conversations, expired, registrations
from agentworks.tables.conversations import Conversation, End
from agentworks.tables.registrations import Seen

_DAY = 86_400_000  # milliseconds


class Side(Struct, frozen=True):
    """One side of a conversation: whether it is the opener's, and who is there and opposite.

    `recipient` is the registration opposite, unless the other end is no registration or is gone.
    """

    is_opener: bool
    here: End
    there: End
    recipient: Seen | None


def conversation_of(db: Snapshot, caller: Caller, inbox_id: str) -> Conversation:
    """A conversation this account takes part in. An id alone grants nothing."""
    found = conversations.find(db, inbox_id)
    if found is not None and found.account_id == caller.account_id:
        return found
    since = db.now - limits.EXPIRED_INBOX_DAYS_MAX * _DAY
    if found is None and expired.knows(db, inbox_id, caller.account_id, since):
        raise refusals.expired_inbox(inbox_id)
    raise refusals.unknown_inbox(inbox_id)


def usable(db: Snapshot, caller: Caller, conversation: Conversation) -> list[Side]:
    """The sides this caller may take. Refuses as unknown if there is none."""
    opener, peer = conversation.opener, conversation.peer
    at_opener, at_peer = registered(db, caller, opener), registered(db, caller, peer)
    found = []
    if may_take(caller, opener, at_opener) and reachable(caller, peer):
        found.append(Side(True, opener, peer, at_peer))
    if may_take(caller, peer, at_peer) and reachable(caller, opener):
        found.append(Side(False, peer, opener, at_opener))
    if not found:
        raise refusals.unknown_inbox(conversation.conversation_id)
    return found


def registered(db: Snapshot, caller: Caller, end: End) -> Seen | None:
    """The registration at an end, as the caller sees it."""
    if end.kind != "registration":
        return None
    key = (end.id, caller.connection_id)
    if key not in db.memo:  # a message changes nobody's name
        db.memo[key] = registrations.seen_by(db, end.id, caller.connection_id)
    found: Seen | None = db.memo[key]
    return found


def may_take(caller: Caller, end: End, there: Seen | None) -> bool:
    if end.kind == "account":
        return end.id == caller.account_id
    return there is not None and bool(there.usable)


def reachable(caller: Caller, end: End) -> bool:
    return end.kind == "account" or within_bounds(caller, end.id)


def within_bounds(caller: Caller, target_id: str) -> bool:
    """Whether the caller's connection may reach this target (contract §2, "target bounds")."""
    return caller.bounds is None or target_id in caller.bounds


def side_of(
    db: Snapshot,
    caller: Caller,
    conversation: Conversation,
    agent_name: str | UnsetType,
    request: Struct,
) -> Side:
    """The side named by `agent_name`, else the only one this caller may take."""
    if agent_name is UNSET:
        sides = usable(db, caller, conversation)
        if len(sides) == 1:
            return sides[0]
        names = [side.here.name for side in sides]
        raise refusals.which_end(names, speaking_as(request, sides[-1].here))
    speaker = inboxes.named(db, caller, str(agent_name))
    for side in usable(db, caller, conversation):
        if side.here.id == speaker.registration_id:
            return side
    raise refusals.not_an_end(speaker.name, instead(db, caller, conversation, request))


def instead(
    db: Snapshot, caller: Caller, conversation: Conversation, request: Struct
) -> dict[str, Any]:
    """The same call with an end this caller may take."""
    return speaking_as(request, usable(db, caller, conversation)[-1].here)


def speaking_as(request: Struct, end: End) -> dict[str, Any]:
    """The request's own arguments, speaking for `end`."""
    args = given(request) | {"agent_name": end.name.removeprefix("agent:")}
    if end.kind == "account":
        del args["agent_name"]
    return args


def given(request: Struct) -> dict[str, Any]:
    """The arguments a request was made of: what was left out stays out."""
    return {
        name: value for name, value in msgspec.structs.asdict(request).items() if value is not UNSET
    }
