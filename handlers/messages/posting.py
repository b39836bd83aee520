"""Posting one message: what `send` and `send_batch` share. Refuses first, writes last."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from agentworks.contracts.messages import MessageReceipt, SendMessage
from agentworks.contracts.operation import Caller
from agentworks.rules import limits, refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import conversations, messages, registrations
from agentworks.tables.conversations import Conversation, End, Idle
from agentworks.tables.messages import Oldest
from agentworks.tables.registrations import Registered
from handlers.messages import ends, room


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
        leaving = room.to_remove(db, caller.account_id)
        return Route(None, True, opener, peer, recipient, leaving)
    full = within_limits(db, found)
    return Route(found, found.opener_id == opener.id, opener, peer, recipient, full=full)


def continuing(db: Snapshot, caller: Caller, request: SendMessage) -> Route:
    conversation = ends.conversation_of(db, caller, str(request.inbox_id))
    side = ends.side_of(db, caller, conversation, request.agent_name, request)
    if side.recipient is None and side.there.kind == "registration":
        raise refusals.peer_gone(side.there.name)
    full = within_limits(db, conversation)
    return Route(conversation, side.is_opener, side.here, side.there, side.recipient, full=full)


def addressed(db: Snapshot, caller: Caller, request: SendMessage) -> Registered:
    """The named agent behind `target`."""
    target = str(request.target)
    kind, _, name = target.partition(":")
    if kind == "agent" and (found := reachable_name(db, caller, name)):
        return found
    meant = reachable_name(db, caller, target)
    args = ends.given(request) | {"target": meant.address} if meant else None
    raise refusals.unknown_target(target, ends.known_names(db, caller), args)


def reachable_name(db: Snapshot, caller: Caller, name: str) -> Registered | None:
    found = registrations.by_name(db, caller.account_id, name)
    return found if found and ends.within_bounds(caller, found.registration_id) else None


def speaker(db: Snapshot, caller: Caller, request: SendMessage) -> End:
    if request.agent_name is UNSET:
        return End("account", caller.account_id, f"account:{caller.account_name}")
    found = ends.named(db, caller, str(request.agent_name))
    return End("registration", found.registration_id, found.address)


def somebody(db: Snapshot, caller: Caller, request: SendMessage) -> dict[str, Any] | None:
    """The same message to some named agent, for a caller who gave no destination."""
    known = ends.known_names(db, caller)
    speaking = f"agent:{request.agent_name}".lower()
    others = [address for address in known if address.lower() != speaking]
    return ends.given(request) | {"target": others[0]} if others else None


def within_limits(db: Snapshot, conversation: Conversation) -> Oldest | None:
    """Refuses a message too many. Returns the oldest message if it must make room."""
    hourly = limits.MESSAGES_PER_HOUR_MAX
    if conversation.kept >= hourly:  # with fewer, none can be too many
        before = messages.sent_at_from_end(db, conversation.conversation_id, hourly - 1)
        if before is not None and before > db.now - conversations.HOUR:
            raise refusals.too_many_messages(hourly, before + conversations.HOUR)
    if conversation.kept < limits.MESSAGES_PER_INBOX_MAX:
        return None
    oldest = messages.oldest(db, conversation.conversation_id)
    if oldest is not None and oldest.delivery in ("pending", "dispatching"):
        raise refusals.inbox_full(limits.MESSAGES_PER_INBOX_MAX)
    return oldest


def write(tx: Transaction, caller: Caller, route: Route, text: str) -> MessageReceipt:
    conversation = route.conversation
    if conversation is None:
        room.make(tx, route.leaving)
        conversation = conversations.begin(tx, caller.account_id, route.opener, route.peer)
    if route.full is not None:
        evict(tx, conversation, route.full)
    sequence = conversations.next_sequence(tx, conversation.conversation_id)
    if conversation.active_hour != tx.now // conversations.HOUR:
        conversations.note_hour(tx, conversation.conversation_id)
    registration_id = number = None
    if route.recipient is not None:
        registration_id = route.recipient.registration_id
        number = registrations.next_number(tx, registration_id)
        tx.ring(route.recipient.bell)
    message_id = messages.add(
        tx,
        conversation.conversation_id,
        sequence,
        route.by_opener,
        registration_id,
        number,
        caller.connection_id,
        text,
    )
    tx.ring(conversation.bell(to_opener=not route.by_opener))
    return MessageReceipt(
        receipt="stored",
        message_id=message_id,
        inbox_id=conversation.conversation_id,
        conversation_id=conversation.conversation_id,
        sequence=sequence,
        next=f"read inbox_id {conversation.conversation_id} after {sequence} for what comes back",
    )


def evict(tx: Transaction, conversation: Conversation, oldest: Oldest) -> None:
    """The oldest message of a full inbox makes room for the newest."""
    messages.remove(tx, conversation.conversation_id, oldest.sequence)
    conversations.note_removed(tx, conversation.conversation_id, oldest.sequence)
    if oldest.registration_id is not None and oldest.number is not None:
        registrations.note_removed(tx, oldest.registration_id, oldest.number)
