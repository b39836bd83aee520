"""Room for one more conversation: the seeds' "Inbox lifetime", applied at its admission."""

from __future__ import annotations

from agentworks.rules import limits, refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import conversations, expired, messages, registrations
from agentworks.tables.conversations import Idle

_DAY = 86_400_000  # milliseconds


def to_remove(db: Snapshot, account_id: str) -> list[Idle]:
    """The conversations that must go before one more can begin. Refuses if none may."""
    before = db.now - limits.INBOX_IDLE_DAYS_MAX * _DAY
    leaving = conversations.idle_since(db, before, limits.INBOX_SWEEP_BATCH_MAX)
    gone = {each.conversation_id for each in leaving}
    of_account = sum(each.account_id == account_id for each in leaving)
    most = limits.INBOXES_PER_ACCOUNT_MAX
    if conversations.count_of_account(db, account_id, most + of_account) - of_account >= most:
        leaving += _idlest(conversations.idlest_of_account(db, account_id), gone)
    most = limits.INBOXES_PER_STORE_MAX
    if conversations.count(db, most + len(leaving)) - len(leaving) >= most:
        leaving += _idlest(conversations.idle_since(db, db.now + 1, len(leaving) + 1), gone)
    return leaving


def _idlest(candidates: list[Idle], gone: set[str]) -> list[Idle]:
    for each in candidates:
        if each.conversation_id not in gone:
            gone.add(each.conversation_id)
            return [each]
    raise refusals.every_inbox_busy()


def make(tx: Transaction, leaving: list[Idle]) -> None:
    """Remove conversations; each answers `expired` from now on, for a while."""
    for each in leaving:
        for newest in messages.newest_by_mailbox(tx, each.conversation_id):
            registrations.note_removed(tx, newest.registration_id, newest.number)
        conversations.remove(tx, each.conversation_id)
        expired.add(tx, each.conversation_id, each.account_id)
    if leaving:
        expired.keep_newest(tx, limits.EXPIRED_INBOXES_MAX)
