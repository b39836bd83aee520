"""Posting one message: what `send` and `send_batch` share. Refuses first, writes last."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from agentworks import inboxes
from agentworks.contracts.messages import MessageReceipt, SendMessage
from agentworks.contracts.operation import Caller
from agentworks.rules import refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import conversations, registrations
from agentworks.tables.conversations import Conversation, End, Idle
from agentworks.tables.messages import Oldest
from agentworks.tables.registrations import Registered
from handlers.messages import ends


class Route(Struct, frozen=True):
    """Where a message goes: a conversation that is there, or one to begin after making room."""

    conversation: Conversation | None
    by_opener: bool
    opener: End
    peer: End
    recipient: Registered | None
    leaving: list[Idle] = []
    full: Oldest | None = None


def post(tx: Transaction, caller: Caller, request: SendMessage) -> MessageReceipt:
    """Store the message and ring its receiver. Refuses before anything is written."""
    if request.inbox_id is UNSET:
        route = opening(tx, caller, request)
    elif request.target is UNSET:
        route = continuing(tx, caller, request)
    else:
        args = ends.given(request)
        del args["target"]
        raise refusals.two_destinations(args)
    return write(tx, caller, route, request.message)


def opening(db: Snapshot, caller: Caller, request: SendMessage) -> Route:
    if request.target is UNSET:
        raise refusals.no_destination(somebody(db, caller, request))
    recipient = addressed(db, caller, request)
    peer = End("registration", recipient.registration_id, recipient.address)
    opener = speaker(db, caller, request)
    if opener.id == peer.id:
        raise refusals.to_itself(peer.name)
    pair = conversations.pair_of(opener, peer)
    found = conversations.between(db, pair) if pair else None
    if found is None:
        leaving = inboxes.leaving(db, caller.account_id)
        return Route(None, True, opener, peer, recipient, leaving)
    full = inboxes.within_limits(db, found)
    return Route(found, found.opener_id == opener.id, opener, peer, recipient, full=full)


def continuing(db: Snapshot, caller: Caller, request: SendMessage) -> Route:
    conversation = ends.conversation_of(db, caller, str(request.inbox_id))
    side = ends.side_of(db, caller, conversation, request.agent_name, request)
    if side.recipient is None and side.there.kind == "registration":
        raise refusals.peer_gone(side.there.name)
    full = inboxes.within_limits(db, conversation)
    return Route(conversation, side.is_opener, side.here, side.there, side.recipient, full=full)


def addressed(db: Snapshot, caller: Caller, request: SendMessage) -> Registered:
    """The named agent behind `target`."""
    target = str(request.target)
    kind, _, name = target.partition(":")
    if kind == "agent" and (found := reachable_name(db, caller, name)):
        return found
    meant = reachable_name(db, caller, target)
    args = ends.given(request) | {"target": meant.address} if meant else None
    raise refusals.unknown_target(target, inboxes.known_names(db, caller), args)


def reachable_name(db: Snapshot, caller: Caller, name: str) -> Registered | None:
    found = registrations.by_name(db, caller.account_id, name)
    return found if found and ends.within_bounds(caller, found.registration_id) else None


def speaker(db: Snapshot, caller: Caller, request: SendMessage) -> End:
    if request.agent_name is UNSET:
        return End("account", caller.account_id, f"account:{caller.account_name}")
    found = inboxes.named(db, caller, str(request.agent_name))
    return End("registration", found.registration_id, found.address)


def somebody(db: Snapshot, caller: Caller, request: SendMessage) -> dict[str, Any] | None:
    """The same message to some named agent, for a caller who gave no destination."""
    known = inboxes.known_names(db, caller)
    speaking = f"agent:{request.agent_name}".lower()
    others = [address for address in known if address.lower() != speaking]
    return ends.given(request) | {"target": others[0]} if others else None


def write(tx: Transaction, caller: Caller, route: Route, text: str) -> MessageReceipt:
    conversation = route.conversation
    if conversation is None:
        inboxes.make_room(tx, route.leaving)
        conversation = conversations.begin(tx, caller.account_id, route.opener, route.peer)
    kept = inboxes.put(tx, caller, conversation, route.by_opener, route.recipient, route.full, text)
    inbox_id = conversation.conversation_id
    return MessageReceipt(
        receipt="stored",
        message_id=kept.message_id,
        inbox_id=inbox_id,
        conversation_id=inbox_id,
        sequence=kept.sequence,
        next=f"read inbox_id {inbox_id} after {kept.sequence} for what comes back",
    )
