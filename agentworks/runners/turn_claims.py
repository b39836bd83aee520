"""Taking a queued turn: in one transaction it is judged once more, begun, and given its token.

What it was launched with may have been lost while it waited ([S0] "Delivery also rechecks…"): then
it is cancelled, its call fails with the reason and its messages are undeliverable.
"""

from __future__ import annotations

from msgspec import Struct, structs

from agentworks import settling
from agentworks.contracts.operation import CallerKind
from agentworks.identity import turns as access
from agentworks.identity.turns import Launch, Lost
from agentworks.rules import limits
from agentworks.store import Transaction
from agentworks.tables import (
    accounts,
    agent_files,
    agents,
    calls,
    connections,
    deliveries,
    executions,
    questions,
    turn_tokens,
    turns,
    wakeups,
)
from agentworks.tables.agent_files import Listed
from agentworks.tables.deliveries import Lane, Pending
from agentworks.tables.executions import Called, Host
from agentworks.tables.questions import Question
from agentworks.tables.turns import Turn
from agentworks.tables.wakeups import Reason

_MODES = {"builder": CallerKind.CREW_BUILDER, "run": CallerKind.CREW_RUN}
_NOT_FROM_PROGRAMS = "its agent no longer takes messages from programs"


class Work(Struct, frozen=True, kw_only=True):
    """A turn that has begun, and all that is needed to perform it. `mark` is in no text of it."""

    turn: Turn
    host: Host
    files: list[Listed]
    mark: str
    call: Called | None = None
    lane: Lane | None = None
    messages: list[Pending] = []
    reasons: list[Reason] = []
    outcome: calls.Call | None = None  # whose end a `notify` turn is told
    question: Question | None = None  # whose answer an `answer` turn is told

    @property
    def writes_project(self) -> bool:
        """Conversational Run turns write outputs only; typed functions have the owner's role."""
        return self.host.mode == "builder" or self.turn.cause == "function"


class Later(Exception):
    """It cannot begin yet; it stays where it is in the queue."""


def claim(tx: Transaction, turn_id: str, secret_hash: bytes) -> Work | None:
    """Begin a queued turn under the token of this hash; None when it is not to be performed now."""
    turn = turns.find(tx, turn_id)
    host = executions.host(tx, turn.chat_id) if turn else None
    if turn is None or host is None or turn.state != "queued":
        return None
    work = Work(turn=turn, host=host, files=[], mark=tx.new_id("mark"))
    try:
        work, launch = _gathered(tx, work)
        granted = access.standing(tx, launch, host.agent_id)
        if host.runtime is None:
            raise Lost("no runtime is configured for its agent")
    except Later:
        return None
    except Lost as why:
        _give_up(tx, work, str(why))
        return None
    turns.begin(tx, turn_id, launch.account_id, launch.connection_id)
    kind = CallerKind.CODE if host.kind == "code" else _MODES[host.mode]
    guest = host.chat_kind in ("caller", "messages") and not granted.owns_agent
    turn_tokens.add(tx, secret_hash, turn_id, kind.value, guest)
    for message in work.messages:
        deliveries.dispatch(tx, host.holder or "", message.sequence, turn_id)
    if work.call is not None:
        executions.start(tx, work.call.call_id, work.call.kind == "function")
        tx.ring(calls.bell(work.call.call_id))
    return structs.replace(work, files=agent_files.of_agent(tx, host.agent_id))


def _gathered(tx: Transaction, work: Work) -> tuple[Work, Launch]:
    """What caused the turn, and whose access it uses. Raises Lost or Later."""
    turn, host = work.turn, work.host
    if turn.call_id is not None:
        return _of_call(tx, work, turn.call_id)
    if turn.cause == "messages":
        return _of_messages(tx, work)
    if turn.cause == "wakeup":
        work = structs.replace(work, reasons=wakeups.reasons(tx, turn.turn_id))
    elif turn.cause == "notify":
        work = structs.replace(work, outcome=calls.find(tx, turn.prompt))
    elif turn.cause == "answer":
        work = structs.replace(work, question=questions.find(tx, turn.prompt))
    return work, Launch(turn.account_id or host.account_id, turn.connection_id)


def _of_call(tx: Transaction, work: Work, call_id: str) -> tuple[Work, Launch]:
    call = executions.called(tx, call_id)
    if call is None or (call.state != "working" and work.turn.cause != "answer"):
        raise Lost(settling.CALL_OVER)
    launch = Launch(call.account_id, call.connection_id)
    if work.turn.cause == "answer":
        work = structs.replace(work, question=questions.find(tx, work.turn.prompt))
    if call.state != "working":
        return work, launch  # a durable question outlived its call
    if call.kind == "ask" and not work.host.messaging and call.caller_kind != CallerKind.PERSON:
        raise Lost(_NOT_FROM_PROGRAMS)
    parked = call.kind == "function" and not call.holds_slot
    if parked and executions.slots_held(tx, work.host.agent_id) >= limits.CREW_CALLS_RUNNING_MAX:
        raise Later
    return structs.replace(work, call=call), launch


def _of_messages(tx: Transaction, work: Work) -> tuple[Work, Launch]:
    """The messages that wait in the conversation of this chat, and whose access they came with."""
    lane = deliveries.lane(tx, work.host.holder or "", work.host.agent_id)
    if lane is None:
        raise Lost("its conversation is gone")
    if not work.host.messaging:
        raise Lost(_NOT_FROM_PROGRAMS)
    if not _sender_stands(tx, lane):
        raise Lost("the account of its sender is disabled")
    taken = _taken(tx, work.turn.chat_id, lane)
    sent_by = taken[0].sent_by
    ours = sent_by is not None and connections.is_live(tx, lane.account_id, sent_by)
    launch = Launch(lane.account_id, sent_by if ours else None)
    return structs.replace(work, lane=lane, messages=taken), launch


def _taken(tx: Transaction, chat_id: str, lane: Lane) -> list[Pending]:
    """As many waiting messages, in order, as one connection sent and one turn may take up.

    Those whose connection has ended are undeliverable; what another one sent after them has a
    turn of its own.
    """
    most = limits.MESSAGES_PER_TURN_MAX
    waiting = deliveries.pending(tx, lane.conversation_id, lane.by_opener, most + 1)
    taken: list[Pending] = []
    for message in waiting:
        if message.sent_by and connections.live(tx, message.sent_by) is None:
            deliveries.refuse(tx, lane.conversation_id, message.sequence)
        elif len(taken) < most and (not taken or taken[0].sent_by == message.sent_by):
            taken.append(message)
        else:
            turns.queue(tx, chat_id, "messages", None, "")
            break
    if not taken:
        gone = "the connection that sent its messages was revoked or has run out"
        raise Lost(gone if waiting else "its messages are gone")
    return taken


def _sender_stands(tx: Transaction, lane: Lane) -> bool:
    """Whether the agent at the other end, if one is there, still has an account behind it."""
    if lane.sender_agent_id is None:
        return True
    sender = agents.by_id(tx, lane.sender_agent_id)
    account = accounts.by_id(tx, sender.account_id) if sender else None
    return account is not None and account.disabled_at is None


def _give_up(tx: Transaction, work: Work, reason: str) -> None:
    """It cannot begin: cancelled, with all that waits for it."""
    messages = work.turn.cause == "messages"
    lane = deliveries.lane(tx, work.host.holder or "", work.host.agent_id) if messages else None
    if lane is not None:
        most = limits.MESSAGES_PER_INBOX_MAX
        for message in deliveries.pending(tx, lane.conversation_id, lane.by_opener, most):
            deliveries.refuse(tx, lane.conversation_id, message.sequence)
    settling.cancel(tx, work.turn, reason)
