"""At start: what was mid-flight is marked interrupted, and nothing that was is done again.

The programs of an earlier server have been ended before (contract §6). What had begun is
interrupted: turns, their calls with the last progress, messages that were being delivered, wakeups
that were firing. What was accepted and had not begun stays queued and starts once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct

from agentworks import log, settling
from agentworks.settling import Ending
from agentworks.store import Full, Held, Store, Transaction
from agentworks.tables import executions, turn_tokens, turns

_AGAIN_SECONDS = 5  # between two tries to write what must be written first


class Recovered(Struct, frozen=True):
    """What an earlier server left: ids of turns that it had begun, slots that nothing held."""

    interrupted: list[str]
    slots_freed: int
    tokens_removed: int


def recover(tx: Transaction) -> Recovered:
    """Call it once, before any turn is taken. Safe to repeat: then it changes nothing."""
    interrupted = [turn.turn_id for turn in turns.running(tx)]
    for turn_id in interrupted:
        settling.settle(tx, turn_id, Ending(state="interrupted", reason=settling.STOPPED))
    tokens = turn_tokens.remove_all(tx)
    return Recovered(interrupted, executions.recount_slots(tx), tokens)


async def before_turns(store: Store, end_orphans: Callable[[], Awaitable[list[str]]]) -> None:
    """End what an earlier server left running, then mark it; no turn may be taken before.

    While the store cannot write, it is tried again and again.
    """
    for name in await end_orphans():
        log.say(f"ended a program that an earlier server left: {name}")
    while True:
        try:
            recovered = await store.transact(recover)
            break
        except (Full, Held) as cannot:
            log.say(f"no turn begins yet: the store cannot write ({type(cannot).__name__})")
            await asyncio.sleep(_AGAIN_SECONDS)
    if recovered.interrupted:
        log.say(f"{len(recovered.interrupted)} turns were interrupted when the server stopped")
