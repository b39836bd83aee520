"""What is said to running turns: steers, answers to their questions, and that nobody answered.

Whatever a running turn cannot take waits for the next turn of its call, or gets one of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from agentworks import settling
from agentworks.runners.performing import Performance
from agentworks.store import Snapshot, Store, Transaction
from agentworks.tables import answers, calls, executions, questions, steers, turns
from agentworks.tables.answers import Expired, Untold
from agentworks.tables.steers import Waiting

_SAID_STOP = "its caller said stop"
_SIGN_SECONDS = 10.0  # between two notes that a silent program lives


class News(Struct, frozen=True):
    """What there is to say, as the rows have it."""

    expired: list[Expired]
    untold: list[Untold]
    steers: list[Waiting]


def news(db: Snapshot) -> News:
    return News(answers.expired(db), answers.untold(db), steers.waiting(db))


class Telling:
    """Says it to the turns that one server performs, each once."""

    def __init__(self, store: Store, performing: Mapping[str, Performance]) -> None:
        self._store = store
        self._performing = performing
        self._given: set[str] = set()  # steers that a runtime has taken and no row says so yet

    async def tell(self, found: News) -> None:
        if found.expired:
            await self._store.transact(_expire)
        for untold in found.untold:
            await self._bring(untold)
        for waiting in found.steers:
            if settling.means_stop(waiting.prompt):
                await self._stop(waiting)
            else:
                await self._steer(waiting)

    # ── steers ───────────────────────────────────────────────────────────────────────────────

    async def _steer(self, waiting: Waiting) -> None:
        performance = self._performing.get(waiting.running_turn_id or "")
        if waiting.turn_id not in self._given:
            if performance is None or not await performance.steer(waiting.prompt):
                return  # it waits for the next turn of its call
            self._given.add(waiting.turn_id)
        await self._store.transact(
            partial(_steered, waiting=waiting, reason="given to the running turn")
        )
        self._given.discard(waiting.turn_id)

    async def _stop(self, waiting: Waiting) -> None:
        performance = self._performing.get(waiting.running_turn_id or "")
        if performance is not None:
            await self._store.transact(partial(_steered, waiting=waiting, reason=_SAID_STOP))
            performance.stop(_SAID_STOP)
        elif waiting.running_turn_id is None:
            await self._store.transact(
                partial(settling.fail_call, call_id=waiting.call_id, reason=_SAID_STOP)
            )

    # ── answers ──────────────────────────────────────────────────────────────────────────────

    async def _bring(self, untold: Untold) -> None:
        """An answer, or the news that there will be none, to whoever asked."""
        performance = self._performing.get(untold.turn_id)
        if performance is None:
            await self._store.transact(partial(_tell_later, untold=untold))
        elif untold.request_id in performance.asked:
            if await self._told(performance, untold):
                await self._store.transact(partial(answers.tell, request_id=untold.request_id))
            else:
                await self._store.transact(partial(_tell_later, untold=untold))
        # else an operation of the running turn asked; it reads the answer by itself

    async def _told(self, performance: Performance, untold: Untold) -> bool:
        if untold.answer is None:
            performance.asked.pop(untold.request_id)
            performance.stop(f"nobody answered in time: {untold.question}")
            return True
        return await performance.answer(untold.request_id, json.loads(untold.answer))

    # ── signs of life ────────────────────────────────────────────────────────────────────────

    async def keep_alive(self, active: set[str], recorded: set[str]) -> None:
        """Signs of life that no event tells of; turns that are on record no more are stopped.

        `active` are turns that have called an operation; `recorded` those the rows say are running.
        """
        now = asyncio.get_running_loop().time()
        silent = []
        for turn_id, performance in self._performing.items():
            if turn_id not in recorded:
                performance.stop("its agent was removed")
            if turn_id in active or performance.asked:
                performance.alive()
            call = performance.work.call
            if call and now - performance.silence() > performance.signed_at + _SIGN_SECONDS:
                performance.signed_at = now
                silent.append(call.call_id)
        if silent:
            await self._store.transact(partial(_sign, call_ids=silent))


def _steered(tx: Transaction, waiting: Waiting, reason: str) -> None:
    turns.leave(tx, waiting.turn_id, "steered", reason)
    calls.changed(tx, waiting.call_id)


def _expire(tx: Transaction) -> None:
    for each in answers.expired(tx):
        if answers.expire(tx, each.request_id):
            tx.ring(questions.bell(each.request_id))
            if each.call_id is not None:
                calls.changed(tx, each.call_id)
    tx.ring("turns")


def _tell_later(tx: Transaction, untold: Untold) -> None:
    """The turn that asked cannot be told any more: a durable answer gets a turn of its own."""
    if not answers.tell(tx, untold.request_id) or untold.kind == "secret":
        return
    asking = turns.find(tx, untold.turn_id)
    if asking is None:
        return
    turns.queue(
        tx,
        asking.chat_id,
        "answer",
        untold.call_id,
        untold.request_id,
        account_id=asking.account_id,
        connection_id=asking.connection_id,
    )
    tx.ring("turns")


def _sign(tx: Transaction, call_ids: list[str]) -> None:
    for call_id in call_ids:
        executions.sign(tx, call_id)
