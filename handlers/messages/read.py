"""messages.read: a page of an inbox or a mailbox; an empty page may wait for the bell."""

from __future__ import annotations

from msgspec import UNSET

from agentworks import clock, inboxes
from agentworks.contracts.messages import Message, MessagePage, ReadMessages
from agentworks.contracts.operation import Caller
from agentworks.rules import limits, refusals
from agentworks.store import Snapshot
from agentworks.tables import messages, registrations, stores
from agentworks.tables.conversations import Conversation
from agentworks.tables.messages import Stored
from handlers.messages import ends
from handlers.messages.ends import Side


def read(db: Snapshot, caller: Caller, request: ReadMessages) -> MessagePage:
    if request.inbox_id is not UNSET:
        return of_inbox(db, caller, request)
    if request.agent_name is not UNSET:
        return of_mailbox(db, caller, request)
    raise refusals.what_to_read(own_mailbox(db, caller, request))


def of_inbox(db: Snapshot, caller: Caller, request: ReadMessages) -> MessagePage:
    conversation = ends.conversation_of(db, caller, str(request.inbox_id))
    side = reading_side(db, caller, conversation, request)
    found = messages.of_inbox(
        db,
        conversation.conversation_id,
        not side.is_opener,
        side.there.name,
        request.after,
        size(request),
    )
    if not found:
        db.wait_on(conversation.bell(to_opener=side.is_opener))
    return page(db, request, found, conversation.removed_through)


def reading_side(
    db: Snapshot, caller: Caller, conversation: Conversation, request: ReadMessages
) -> Side:
    """As for sending; but whoever opened an inbox without a name reads it without a name."""
    if request.agent_name is UNSET and conversation.opener_kind == "account":
        return ends.usable(db, caller, conversation)[0]
    return ends.side_of(db, caller, conversation, request.agent_name, request)


def of_mailbox(db: Snapshot, caller: Caller, request: ReadMessages) -> MessagePage:
    reader = inboxes.named(db, caller, str(request.agent_name))
    found = messages.of_mailbox(db, reader.registration_id, request.after, size(request))
    if not found:
        db.wait_on(reader.bell)
    mailbox = registrations.mailbox(db, reader.registration_id)
    return page(db, request, found, mailbox.removed_through if mailbox else 0)


def own_mailbox(db: Snapshot, caller: Caller, request: ReadMessages) -> dict[str, object] | None:
    """The same read of the first mailbox this connection may use, if it has one."""
    for each in registrations.of_account(db, caller.account_id):
        if registrations.may_use(db, each.registration_id, caller.connection_id):
            return ends.given(request) | {"agent_name": each.name}
    return None


def size(request: ReadMessages) -> int:
    return min(request.limit, limits.MESSAGES_PER_PAGE_MAX)


def page(
    db: Snapshot, request: ReadMessages, found: list[Stored], removed_through: int
) -> MessagePage:
    return MessagePage(
        messages=[shown(each) for each in found],
        next_cursor=found[-1].place if found else request.after,
        epoch=stores.epoch(db),
        gap=request.after < removed_through,
    )


def shown(each: Stored) -> Message:
    return Message(
        message_id=each.message_id,
        inbox_id=each.conversation_id,
        conversation_id=each.conversation_id,
        sequence=each.sequence,
        sender=each.sender,
        reply_address=each.conversation_id,
        message=each.body,
        sent_at=clock.rfc3339(each.sent_at),
        delivery=each.delivery,  # type: ignore[arg-type]  # delivery_moves guards the words
    )
