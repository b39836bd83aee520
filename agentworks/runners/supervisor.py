"""One turn from its start to one outcome: the clock, the caps, the kill.

A runtime only translates. Here it is decided that a turn has been silent too long, has lingered,
or must stop; that what it said reaches the record in order, however slow the record is; that
nothing of it lives when it is over. There is exactly one outcome (contract §5, §6).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from msgspec import structs

from agentworks.rules import limits
from agentworks.runners import folders, outcomes, processes, sandbox
from agentworks.runners.outcomes import Outcome, Record
from agentworks.runners.runtime import (
    Event,
    Failed,
    Final,
    LineTooLong,
    NotStarted,
    Runtime,
    TimedOut,
    Told,
    Turn,
)

Tell = Callable[[Told], Awaitable[None]]
_LOG = logging.getLogger(__name__)
_LOG_LENGTH = 64 * 1024  # characters of stderr an outcome carries


class Execution:
    """One turn being performed. `tell` is awaited for each event, one after the other.

    Every event, and every byte a program writes, is a sign of life; so is `alive()`, for what
    the turn does elsewhere (a tool call over the network, an answer that came in).
    """

    def __init__(
        self, runtime: Runtime, turn: Turn, tell: Tell, confinement: sandbox.Confinement
    ) -> None:
        self.runtime = runtime
        self.turn = structs.replace(turn, launch=self._launch)
        self._tell = tell
        self._confinement = confinement
        self._programs: list[processes.RunningProgram] = []
        self._leftovers: list[str] = []
        self._record = Record(turn.session_ref)
        self._waiting: deque[Told] = deque()
        self._changed = asyncio.Event()  # something the watch must look at
        self._news = asyncio.Event()  # something to tell
        self._room = asyncio.Event()  # something was told
        self._ending = asyncio.Event()  # nothing may be started any more
        self._over = False  # nothing more will come
        self._life = 0.0
        self._terminal_at = 0.0
        self._stopped = ""
        self._timed_out = ""

    async def run(self) -> Outcome:
        """Perform the turn. Returns when nothing of it lives; raises what `tell` raised."""
        self._life = began = asyncio.get_running_loop().time()
        reading = asyncio.create_task(self._read())
        telling = asyncio.create_task(self._tell_all())
        telling.add_done_callback(lambda _: self._changed.set())
        try:
            await self._watch(reading, telling, began)
        finally:
            await _without_fail(self._end(reading, telling))
        await telling
        return self._record.outcome(
            timed_out=self._timed_out,
            stopped=self._stopped,
            leftovers=self._leftovers,
            log="".join(each.said_last(_LOG_LENGTH) for each in self._programs)[-_LOG_LENGTH:],
        )

    def alive(self) -> None:
        """A sign of life from elsewhere."""
        self._life = asyncio.get_running_loop().time()

    def silence(self) -> float:
        """Seconds since its last sign of life."""
        return asyncio.get_running_loop().time() - self._life

    async def steer(self, text: str) -> bool:
        """Text into the running turn; False when it must wait for the next one."""
        self.alive()
        return not self._ended and await self.runtime.steer(text)

    async def answer(self, request_id: str, answer: Any) -> bool:
        """The answer to a NeedInput; False when nobody waits for it."""
        self.alive()
        return not self._ended and await self.runtime.answer(request_id, answer)

    def stop(self, reason: str) -> None:
        """Ask the turn to end; its outcome is `failed` with this reason unless it answers."""
        self._stopped = self._stopped or reason
        self._changed.set()

    @property
    def _ended(self) -> bool:
        return self._over or self._record.terminal is not None

    # ── what comes out of the runtime ────────────────────────────────────────────────────

    async def _read(self) -> None:
        """Take every event from the runtime, and wait while too many are untold."""
        try:
            events = cast(Any, self.runtime.run(self.turn))
            async with aclosing(events):
                async for event in events:
                    self._note(event)
                    while len(self._waiting) > limits.EVENTS_WAITING_MAX:
                        self._room.clear()
                        await self._room.wait()
        except (NotStarted, LineTooLong) as why:
            self._note(Failed(reason=str(why)))
        except Exception:
            _LOG.exception("the %s runtime broke in turn %s", self.runtime.name, self.turn.turn_id)
            self._note(
                Failed(reason=f"the {self.runtime.name} runtime broke; see the server's log")
            )
        finally:
            self._changed.set()

    def _note(self, event: Event) -> None:
        """Keep what the outcome needs of an event and put it in line to be told."""
        self.alive()
        if self._record.terminal is not None:
            return  # the first terminal event ended the turn; what follows is noise
        event = outcomes.tidy(event)
        self._record.note(event)
        if isinstance(event, Final | Failed):
            self._terminal_at = asyncio.get_running_loop().time()
            self._changed.set()
        self._put(event)

    def _put(self, told: Told) -> None:
        self._waiting.append(told)
        self._news.set()

    async def _tell_all(self) -> None:
        while True:
            while self._waiting:
                await self._tell(self._waiting[0])
                self._waiting.popleft()
                self._room.set()
                self.alive()  # while we made it wait, its silence was ours
            if self._over:
                return
            self._news.clear()
            await self._news.wait()

    # ── the clock ────────────────────────────────────────────────────────────────────────

    async def _watch(
        self, reading: asyncio.Task[None], telling: asyncio.Task[None], began: float
    ) -> None:
        """Until the turn is over by itself, out of time, stopped, or cannot be recorded."""
        loop = asyncio.get_running_loop()
        while not (reading.done() or self._stopped or telling.done()):
            deadline, why = self._deadline(began)
            if loop.time() >= deadline:
                if why:
                    self._timed_out = why
                    self._put(TimedOut(reason=why))
                return
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), deadline - loop.time())

    def _deadline(self, began: float) -> tuple[float, str]:
        """When to look again at the latest, and what it means if nothing happens until then."""
        bounds = self.turn.limits
        if self._record.terminal is not None:
            return self._terminal_at + bounds.linger_seconds, ""
        idle, hard = self._life + bounds.idle_seconds, began + bounds.hard_seconds
        if idle < hard:
            return idle, f"no sign of life for {bounds.idle_seconds:g} seconds"
        return hard, f"not done after {bounds.hard_seconds:g} seconds"

    # ── the end ──────────────────────────────────────────────────────────────────────────

    async def _end(self, reading: asyncio.Task[None], telling: asyncio.Task[None]) -> None:
        """Stop the runtime and all its programs; returns when nothing of the turn lives."""
        self._ending.set()
        try:
            if not reading.done():
                await self._ask_to_stop()
            await self._end_programs(reading)
            await self._drain(reading)
            for program in self._programs:
                await program.drained(limits.DRAIN_SECONDS)
        finally:
            for program in self._programs:
                program.close()  # whatever went wrong here: their keepers end them now
            self._over = True
            self._news.set()
        await asyncio.wait({telling})

    async def _ask_to_stop(self) -> None:
        grace = self.turn.limits.grace_seconds
        try:
            await asyncio.wait_for(self.runtime.stop(grace), grace)
        except TimeoutError:
            pass
        except Exception:
            _LOG.exception("the %s runtime broke while stopping", self.runtime.name)

    async def _end_programs(self, reading: asyncio.Task[None]) -> None:
        bounds = self.turn.limits
        answered = isinstance(self._record.terminal, Final)
        for program in self._programs:
            if reading.done():
                program.output.discard()
            linger = bounds.linger_seconds if answered and reading.done() else 0
            ended = await program.end(linger, bounds.grace_seconds)
            self._leftovers += ended.leftovers

    async def _drain(self, reading: asyncio.Task[None]) -> None:
        """Let the runtime say what it still has; no longer than it or its record shows life."""
        patience = float(limits.DRAIN_SECONDS)
        if not self._programs:
            patience = min(self.turn.limits.grace_seconds, patience)
        while not reading.done():
            before = self._life
            await asyncio.wait({reading}, timeout=patience)
            if self._life == before and not reading.done():
                reading.cancel()
                await asyncio.wait({reading})

    async def _launch(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        read: Sequence[Path] = (),
    ) -> processes.RunningProgram:
        if self._ending.is_set():
            raise NotStarted("the turn is ending")
        whole = {**self.turn.env, **(env or {})}
        program = processes.RunningProgram(self.turn.limits, folders.marker(whole), self.alive)
        await program.start(sandbox.order(self._confinement, argv, whole, self.turn.cwd, read))
        self._programs.append(program)
        if self._ending.is_set():  # it began while the others were being ended
            self._leftovers += (await program.end(0, 0)).leftovers
            raise NotStarted("the turn is ending")
        return program


async def _without_fail(ending: Coroutine[Any, Any, None]) -> None:
    """Carry it through, however often we are cancelled meanwhile; then be cancelled."""
    task = asyncio.create_task(ending)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    task.result()
