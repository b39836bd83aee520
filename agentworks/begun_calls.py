"""What every accepted call begins with, ask or function: its chain, who made it, row and turn."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from agentworks.contracts.operation import Caller
from agentworks.rules import call_words, limits
from agentworks.rules import refusals_of_work as refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import calls, turns
from agentworks.tables.agents import Agent
from agentworks.tables.calls import Accepted

_encode = msgspec.json.Encoder().encode


class Chain(Struct, frozen=True):
    """Where a call stands: the agents from the first caller to its target, and its ancestors."""

    agents: list[str]
    parent_call_id: str | None = None
    root_call_id: str | None = None


def chain_to(db: Snapshot, caller: Caller, agent: Agent) -> Chain:
    """The chain that a call of `agent` would stand in. Raises Refuse(loop_refused)."""
    link = calls.link(db, caller.call_id) if caller.call_id else None
    if link is not None:
        before: list[str] = msgspec.json.decode(link.chain)
    else:
        before = [caller.agent_id] if caller.agent_id else []
    if agent.agent_id in before:
        raise refusals.in_chain_already(agent.name)
    if len(before) >= limits.CHAIN_AGENTS_MAX:
        raise refusals.chain_too_long(limits.CHAIN_AGENTS_MAX)
    agents = [*before, agent.agent_id]
    if link is None:
        return Chain(agents)
    if link.chain_calls >= limits.CHAIN_CALLS_MAX:
        raise refusals.chain_too_busy(limits.CHAIN_CALLS_MAX)
    return Chain(agents, caller.call_id, link.root_call_id)


def who(caller: Caller, name: str = "") -> dict[str, Any]:
    """What a call keeps of who made it; `name` is the one it went by, if not its usual."""
    return {
        "account_id": caller.account_id,
        "connection_id": caller.connection_id or None,
        "caller_kind": caller.kind.value,
        "caller_id": call_words.caller_id(caller),
        "caller_name": name or call_words.caller_name(caller),
        "caller_chat_id": caller.chat_id or None,
    }


def place(agent: Agent, chain: Chain) -> dict[str, Any]:
    """What a call keeps of where it goes, and of how it came there."""
    return {
        "agent_id": agent.agent_id,
        "owner_id": agent.account_id,
        "parent_call_id": chain.parent_call_id,
        "root_call_id": chain.root_call_id,
        "chain": _encode(chain.agents).decode(),
    }


def begin(tx: Transaction, call: Accepted, cause: str, prompt: str, place: int = 0) -> None:
    """Keep an accepted call and queue its turn; its `place` is known in a chat that is new."""
    calls.add(tx, call)
    if call.root_call_id is not None:
        calls.lengthen(tx, call.root_call_id)
    turns.queue(tx, call.chat_id, cause, call.call_id, prompt, place=place)
    tx.ring("turns")
