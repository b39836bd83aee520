"""agents.ask: a question in plain words, in the continuing conversation of caller and target."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from agentworks import begun_calls, inboxes, retries, targets, visible_calls
from agentworks.begun_calls import Chain
from agentworks.contracts.agents import Ask
from agentworks.contracts.calls import CallAnswer
from agentworks.contracts.operation import Caller, CallerKind
from agentworks.rules import access, call_words, listings
from agentworks.rules import refusals_of_work as refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import agents, chats, conversations
from agentworks.tables.calls import Accepted
from agentworks.tables.chats import Chat
from agentworks.tables.conversations import Conversation, End, Idle
from agentworks.tables.messages import Oldest
from agentworks.targets import Target
from handlers.agents import steering


class Wanted(Struct, frozen=True, omit_defaults=True):
    """A question as somebody wants it asked: what a `try` of its refusal consists of."""

    target: str
    message: str
    new_conversation: bool = False
    about: str | UnsetType = UNSET
    agent_name: str | UnsetType = UNSET


class Place(Struct, frozen=True, kw_only=True):
    """Where a question is asked: its conversation and chat, if there are any, or how to begin."""

    holder: str
    kind: str
    mode: str
    asker: End
    chat: Chat | None = None
    conversation: Conversation | None = None
    leaving: list[Idle] = []
    oldest: Oldest | None = None


def ask(tx: Transaction, caller: Caller, request: Ask) -> CallAnswer:
    wanted = wanted_of(request)
    if caller.replies_only:
        raise refusals.begins_nothing()
    target = targets.find(tx, caller, request.target, "runner", wanted)
    if target.agent.kind not in listings.ASKED:
        raise refusals.no_conversation(target.agent.name, target.agent.kind)
    asker = speaker(tx, caller, wanted)
    home = at_home(tx, caller, target)
    if wanted.new_conversation and (home or wanted.about is not UNSET):
        raise refusals.nothing_begins(without(wanted, "new_conversation"))
    tx.understood = meaning(target, asker, wanted)
    if wanted.about is not UNSET:
        call = steering.running(tx, caller, target, wanted.about, without(wanted, "about"))
        refuse_programs(caller, target)
        return steering.steer(tx, caller, call, wanted.message)
    refuse_programs(caller, target)
    chain = begun_calls.chain_to(tx, caller, target.agent)
    if target.agent.runtime is None:
        raise refusals.no_runtime(target.agent.name)
    place = place_of(tx, caller, target, asker, home, wanted.new_conversation)
    return begin(tx, caller, target, chain, place, wanted)


def refuse_programs(caller: Caller, target: Target) -> None:
    """The messaging switch stops programs, never a person (contract §5)."""
    if not target.agent.messaging and caller.kind is not CallerKind.PERSON:
        raise refusals.messaging_off(target.agent.name)


def understood(db: Snapshot, caller: Caller, request: Ask) -> bytes:
    """The fingerprint of what a question means: other spellings of it share it."""
    wanted = wanted_of(request)
    target = targets.find(db, caller, request.target, "runner")
    return meaning(target, speaker(db, caller, wanted), wanted)


def meaning(target: Target, asker: End, wanted: Wanted) -> bytes:
    agent_id = target.agent.agent_id
    fresh, about = wanted.new_conversation, wanted.about or None
    return retries.meaning(agent_id, wanted.message, fresh, about, asker.kind, asker.id)


def wanted_of(request: Ask) -> Wanted:
    return Wanted(
        request.target,
        request.message,
        request.new_conversation,
        request.about,
        request.agent_name,
    )


def speaker(db: Snapshot, caller: Caller, wanted: Wanted) -> End:
    """Who asks: the agent that acts, a named agent of the account, or the account."""
    if caller.agent_id:
        if wanted.agent_name is not UNSET:
            raise refusals.name_inside(without(wanted, "agent_name"))
        kind = str(caller.kind.value).partition("_")[0]
        return End(kind, caller.agent_id, call_words.caller_name(caller))
    if wanted.agent_name is not UNSET:
        found = inboxes.named(db, caller, wanted.agent_name)
        return End("registration", found.registration_id, found.address)
    return End("account", caller.account_id, f"account:{caller.account_name}")


def without(wanted: Wanted, *names: str) -> dict[str, Any]:
    """The question's own arguments but for these."""
    args = {name: getattr(wanted, name) for name in wanted.__struct_fields__}
    return {
        name: value
        for name, value in args.items()
        if name not in names and value is not UNSET and value is not False
    }


# ── where it is asked ────────────────────────────────────────────────────────────────────────


def place_of(
    db: Snapshot, caller: Caller, target: Target, asker: End, home: bool, fresh: bool
) -> Place:
    """The continuing conversation of this asker with this target, or a new one. May refuse."""
    if home:
        kind, holder, mode = "own", chats.OWN, "builder"
    else:
        kind, holder = "caller", f"{asker.kind}:{asker.id}"
        if caller.agent_id:
            holder += f" account:{caller.account_id}"  # one per calling agent and person ([S4])
        mode = "builder" if access.at_least(target.role, "editor") else "run"
    chat = chats.continued(db, target.agent.agent_id, kind, holder)
    found = None
    if chat is not None and not fresh:
        found = conversations.between(db, pair(chat.chat_id, asker))
    if found is None:
        room, oldest = inboxes.leaving(db, caller.account_id), None
    else:
        room, oldest = [], inboxes.within_limits(db, found)
    return Place(
        holder=holder,
        kind=kind,
        mode=mode,
        asker=asker,
        chat=chat,
        conversation=found,
        leaving=room,
        oldest=oldest,
    )


def at_home(db: Snapshot, caller: Caller, target: Target) -> bool:
    """Whether a Crew asks another of its own owner, for that owner: then it is asked in the
    called Crew's own chat ([S4]). A guest's conversation never reaches into it."""
    if caller.kind is not CallerKind.CREW_BUILDER or target.agent.account_id != caller.account_id:
        return False
    asking = agents.by_id(db, caller.agent_id)
    return asking is not None and asking.account_id == target.agent.account_id


def pair(chat_id: str, asker: End) -> str:
    """The key under which the conversation of an asker in a chat continues."""
    return f"{chat_id} {asker.id}"


# ── asking it ────────────────────────────────────────────────────────────────────────────────


def begin(
    tx: Transaction, caller: Caller, target: Target, chain: Chain, place: Place, wanted: Wanted
) -> CallAnswer:
    agent = target.agent
    chat_id = chat_of(tx, caller, target, place, wanted)
    conversation = place.conversation
    if conversation is None:
        inboxes.make_room(tx, place.leaving)
        conversation = conversations.begin(
            tx,
            caller.account_id,
            place.asker,
            End(agent.kind, agent.agent_id, agent.name),
            pair(chat_id, place.asker),
        )
    inbox_id = conversation.conversation_id
    inboxes.put(tx, caller, conversation, True, None, place.oldest, wanted.message)
    call = Accepted(
        **begun_calls.who(caller, place.asker.name if place.asker.kind == "registration" else ""),
        **begun_calls.place(agent, chain),
        call_id=tx.new_id("call"),
        kind="ask",
        function="ask",
        chat_id=chat_id,
        message=wanted.message,
        inbox_id=inbox_id,
        holds_slot=False,
    )
    begun_calls.begin(tx, call, "ask", "")
    visible_calls.wait(tx, call.call_id)
    return visible_calls.accepted(
        tx, call.caller_name, call.call_id, agent.name, call.function, inbox_id
    )


def chat_of(tx: Transaction, caller: Caller, target: Target, place: Place, wanted: Wanted) -> str:
    """The chat it is asked in, begun if there is none to continue."""
    chat = place.chat
    if chat is not None and wanted.new_conversation:
        chats.let_go(tx, chat.chat_id)
        chat = None
    if chat is None:
        title = f"Asked by {call_words.caller_name(caller)}"
        agent_id = target.agent.agent_id
        return chats.begin(tx, agent_id, place.mode, place.kind, place.holder, title)
    if chat.mode != place.mode:
        chats.set_mode(tx, chat.chat_id, place.mode)
    return chat.chat_id
