"""The runner of turns: takes what is queued, performs it, settles it.

It waits on the bell `turns` and looks by itself once a second, so that losing a ring loses nothing.
A chat runs one turn at a time, the server at most TURNS_RUNNING_MAX; turns of calls within calls
are not counted, since what waits for them is.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from agentworks import log, settling
from agentworks.bells import Bells
from agentworks.contracts.operation import Caller
from agentworks.identity.secrets import fresh, hashed
from agentworks.identity.turns import PREFIX
from agentworks.rules import limits
from agentworks.runners import folders, nursery, processes, sandbox
from agentworks.runners.performing import Performance, Setting, confining
from agentworks.runners.placing import Placed
from agentworks.runners.sweeping import Sweeper
from agentworks.runners.telling import News, Telling, news
from agentworks.runners.turn_claims import claim
from agentworks.settling import Ending
from agentworks.store import Full, Held, Snapshot, Transaction
from agentworks.tables import turns

_LOG = logging.getLogger("agentworks.turns")
_AGAIN_SECONDS = 1.0  # between two tries to write what must be written
_PASSED_OVER_MAX = 100  # turns that cannot begin yet, and are passed over for those behind them
_UNKEPT = Ending(state="failed", reason="its outcome could not be kept; see the server's log")
TOPIC = "turns"


class TurnRunner:
    """Performs the turns of one server. All methods but `note` belong to its event loop."""

    def __init__(self, setting: Setting, bells: Bells) -> None:
        self._setting = setting
        self._store = setting.store
        self._bells = bells
        self._placed = Placed(setting.store, setting.root)
        self._performing: dict[str, Performance] = {}
        self._sweeper = Sweeper(setting.store, setting.root)
        self._telling = Telling(setting.store, self._performing)
        self._tasks: set[asyncio.Task[None]] = set()
        self._active: set[str] = set()  # turns that have called an operation since the last look
        self._looking: asyncio.Task[None] | None = None
        self._warning: asyncio.Task[None] | None = None
        self._looked_at = 0.0  # when signs of life were last gathered
        self._stopping = False

    async def end_orphans(self) -> list[str]:
        """End what an earlier server's turns have left running; their names. Before recovery."""
        return await processes.end_marked(folders.every_marker(self._setting.root))

    def start(self) -> None:
        """Begin to take turns. Recovery has been through the rows before."""
        nursery.nursery()
        self._setting.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._looking = asyncio.create_task(self._look_for_ever())
        self._warning = asyncio.create_task(asyncio.to_thread(_warn, self._setting))

    async def stop(self) -> None:
        """Take no more; end what runs, which is interrupted. Returns when nothing of it lives."""
        self._stopping = True
        if self._looking is not None:
            self._bells.ring([TOPIC])
            await self._looking
            self._looking = None
        if self._warning is not None:
            await self._warning
        for performance in self._performing.values():
            performance.interrupt()
        if self._tasks:
            await asyncio.wait(self._tasks)
        nursery.close()

    def note(self, caller: Caller) -> None:
        """Somebody was let in: if it acts in a turn, that turn lives. For any thread."""
        if caller.turn_id:
            self._active.add(caller.turn_id)

    @property
    def running(self) -> int:
        return len(self._performing)

    # ── looking ──────────────────────────────────────────────────────────────────────────────

    async def _look_for_ever(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._stopping:
            ticket, began = self._bells.now(), loop.time()
            try:
                await self._look()
            except (Full, Held) as cannot:
                _LOG.warning("turns wait: the store cannot write (%s)", type(cannot).__name__)
                await asyncio.sleep(_AGAIN_SECONDS)
            except Exception:
                _LOG.exception("looking for turns failed; it goes on")
                await asyncio.sleep(_AGAIN_SECONDS)
            rang = await self._bells.wait(TOPIC, ticket, limits.TURNS_LOOK_SECONDS, is_caller=False)
            if not rang and loop.time() - began < limits.TURNS_LOOK_SECONDS / 2:
                await asyncio.sleep(limits.TURNS_LOOK_SECONDS / 10)  # the bells are closed for good

    async def _look(self) -> None:
        room = limits.TURNS_RUNNING_MAX - sum(map(_counts, self._performing.values()))

        def look(db: Snapshot) -> tuple[News, list[str]]:
            if room > 0:
                return news(db), turns.startable(db, room + _PASSED_OVER_MAX)
            return news(db), turns.startable(db, limits.TURNS_RUNNING_MAX, within_calls=True)

        (found, ready), _ = self._store.read(look)
        await self._telling.tell(found)
        await self._take_all(ready, room if room > 0 else len(ready))
        await self._keep_alive()

    async def _take_all(self, ready: list[str], room: int) -> None:
        """Take as many as there is room for; those that cannot begin yet hold up no other."""
        while ready and room > 0:
            batch, ready = ready[:room], ready[room:]
            taken = await asyncio.gather(*map(self._take, batch), return_exceptions=True)
            for each in taken:
                if isinstance(each, BaseException):
                    raise each
                room -= each

    async def _keep_alive(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._performing and now - self._looked_at >= limits.TURNS_LOOK_SECONDS:
            self._looked_at = now
            active, self._active = self._active, set()
            recorded, _ = self._store.read(turns.running)
            await self._telling.keep_alive(active, {turn.turn_id for turn in recorded})

    # ── one turn ─────────────────────────────────────────────────────────────────────────────

    async def _take(self, turn_id: str) -> bool:
        """Begin a turn and let it run; False when it does not begin now, or not at all."""
        if self._stopping:
            return False
        token = fresh(PREFIX)
        taking = partial(claim, turn_id=turn_id, secret_hash=hashed(token))
        try:
            work = await self._store.transact(taking)
        except (Full, Held):
            raise
        except Exception:  # it must not keep the others from starting
            _LOG.exception("turn %s cannot be taken", turn_id)
            await self._store.transact(partial(_drop, turn_id=turn_id))
            return False
        if work is None:
            return False
        performance = Performance(self._setting, self._placed, work, token)
        self._performing[turn_id] = performance
        task = asyncio.create_task(self._perform(performance))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _perform(self, performance: Performance) -> None:
        turn_id = performance.work.turn.turn_id
        try:
            ending = await performance.run()
            await self._settle(turn_id, ending)
        finally:
            del self._performing[turn_id]
        if performance.work.turn.cause == "function" and not self._stopping:
            await self._sweeper.after_activity(performance.work.host.agent_id)

    async def _settle(self, turn_id: str, ending: Ending) -> None:
        """However long it takes: a turn that is over must not stay running in the record."""
        while True:
            try:
                await self._store.transact(partial(settling.settle, turn_id=turn_id, ending=ending))
                return
            except (Full, Held) as cannot:
                _LOG.warning("turn %s cannot settle: %s", turn_id, type(cannot).__name__)
                if self._stopping:
                    return  # recovery will find it
                await asyncio.sleep(_AGAIN_SECONDS)
            except Exception:
                _LOG.exception("turn %s cannot settle as it ended", turn_id)
                if ending == _UNKEPT:
                    return
                ending = _UNKEPT


def _warn(setting: Setting) -> None:
    """Tell the operator where programs of agents run, if there is something to tell."""
    try:
        warnings = confining(setting)[1]
    except sandbox.Unconfined as why:
        warnings = [f"agents that start programs cannot run: {each}" for each in why.problems]
    for each in warnings:
        log.say(each)


def _counts(performance: Performance) -> bool:
    """Whether a turn counts against TURNS_RUNNING_MAX: not when another call waits for it."""
    call = performance.work.call
    return call is None or call.parent_call_id is None


def _drop(tx: Transaction, turn_id: str) -> None:
    """A turn that our own fault keeps from beginning must not block its chat for ever."""
    turn = turns.find(tx, turn_id)
    if turn is not None:
        settling.cancel(tx, turn, "a fault of the server kept it from beginning; see its log")
