"""What every message into a conversation obeys, however it came: names, limits, room, numbers.

Shared by the direct messages and by `ask`, whose question is a message of a conversation too
(contract §5). Everything that can refuse comes before the first write.
"""

from __future__ import annotations

from msgspec import Struct

from agentworks.contracts.operation import Caller
from agentworks.rules import limits, refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import conversations, expired, messages, registrations
from agentworks.tables.conversations import Conversation, Idle
from agentworks.tables.messages import Oldest
from agentworks.tables.registrations import Registered

_NAMES_SHOWN_MAX = 10  # registered names listed in a refusal
_DAY = 86_400_000  # milliseconds


class Kept(Struct, frozen=True):
    """A message that was stored, and its place in its conversation."""

    message_id: str
    sequence: int


# ── who speaks ───────────────────────────────────────────────────────────────────────────────


def named(db: Snapshot, caller: Caller, agent_name: str) -> Registered:
    """The registration a caller speaks or reads as. Refuses unknown and forbidden names."""
    found = registrations.by_name(db, caller.account_id, agent_name)
    if found is None:
        raise refusals.unknown_name(agent_name, known_names(db, caller))
    if not registrations.may_use(db, found.registration_id, caller.connection_id):
        raise refusals.not_your_name(found.name)
    return found


def known_names(db: Snapshot, caller: Caller) -> list[str]:
    found = [
        f"agent:{each.name}"
        for each in registrations.of_account(db, caller.account_id)
        if caller.bounds is None or each.registration_id in caller.bounds
    ]
    return found[:_NAMES_SHOWN_MAX]


# ── one message more ─────────────────────────────────────────────────────────────────────────


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


def put(
    tx: Transaction,
    caller: Caller,
    conversation: Conversation,
    by_opener: bool,
    recipient: Registered | None,
    oldest: Oldest | None,
    text: str,
) -> Kept:
    """Store a message that `within_limits` has let pass, and ring whoever it is for."""
    if oldest is not None:
        _evict(tx, conversation, oldest)
    sequence = conversations.next_sequence(tx, conversation.conversation_id)
    if conversation.active_hour != tx.now // conversations.HOUR:
        conversations.note_hour(tx, conversation.conversation_id)
    registration_id = number = None
    if recipient is not None:
        registration_id = recipient.registration_id
        number = registrations.next_number(tx, registration_id)
        tx.ring(recipient.bell)
    message_id = messages.add(
        tx,
        conversation.conversation_id,
        sequence,
        by_opener,
        registration_id,
        number,
        caller.connection_id,
        text,
    )
    tx.ring(conversation.bell(to_opener=not by_opener))
    return Kept(message_id, sequence)


def _evict(tx: Transaction, conversation: Conversation, oldest: Oldest) -> None:
    """The oldest message of a full inbox makes room for the newest."""
    messages.remove(tx, conversation.conversation_id, oldest.sequence)
    conversations.note_removed(tx, conversation.conversation_id, oldest.sequence)
    if oldest.registration_id is not None and oldest.number is not None:
        registrations.note_removed(tx, oldest.registration_id, oldest.number)


# ── one conversation more: the seeds' "Inbox lifetime", applied at its admission ─────────────


def leaving(db: Snapshot, account_id: str) -> list[Idle]:
    """The conversations that must go before one more can begin. Refuses if none may."""
    before = db.now - limits.INBOX_IDLE_DAYS_MAX * _DAY
    found = conversations.idle_since(db, before, limits.INBOX_SWEEP_BATCH_MAX)
    gone = {each.conversation_id for each in found}
    of_account = sum(each.account_id == account_id for each in found)
    most = limits.INBOXES_PER_ACCOUNT_MAX
    if conversations.count_of_account(db, account_id, most + of_account) - of_account >= most:
        found += _idlest(conversations.idlest_of_account(db, account_id), gone)
    most = limits.INBOXES_PER_STORE_MAX
    if conversations.count(db, most + len(found)) - len(found) >= most:
        found += _idlest(conversations.idle_since(db, db.now + 1, len(found) + 1), gone)
    return found


def _idlest(candidates: list[Idle], gone: set[str]) -> list[Idle]:
    for each in candidates:
        if each.conversation_id not in gone:
            gone.add(each.conversation_id)
            return [each]
    raise refusals.every_inbox_busy()


def make_room(tx: Transaction, idle: list[Idle]) -> None:
    """Remove conversations; each answers `expired` from now on, for a while."""
    for each in idle:
        for newest in messages.newest_by_mailbox(tx, each.conversation_id):
            registrations.note_removed(tx, newest.registration_id, newest.number)
        conversations.remove(tx, each.conversation_id)
        expired.add(tx, each.conversation_id, each.account_id)
    if idle:
        expired.keep_newest(tx, limits.EXPIRED_INBOXES_MAX)
