"""One claimed turn from its folders to its ending: what is prepared, performed and cleared away.

Outside any transaction. Whatever goes wrong here is an ending with a reason, never a turn that
stays running.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from agentworks import clock, settling
from agentworks.rules import limits
from agentworks.rules.results import result_problems
from agentworks.runners import files, folders, outcomes, results, runtimes, sandbox
from agentworks.runners.folders import Folders, NoSuchEnvironment
from agentworks.runners.outcomes import Outcome
from agentworks.runners.placing import Placed
from agentworks.runners.runtime import Limits, NeedInput, Runtime, Turn, Usage
from agentworks.runners.supervisor import Execution
from agentworks.runners.turn_claims import Work
from agentworks.runners.turn_events import Recorder
from agentworks.runners.turn_prompts import prompt_of
from agentworks.settling import Ending
from agentworks.store import Full, Held, Store, Transaction
from agentworks.tables import deliveries, wakeups

_LOG = logging.getLogger("agentworks.turns")


class Setting(Struct, frozen=True, kw_only=True):
    """Where turns are performed: the store, the folder of all agents, and what programs may."""

    store: Store
    root: Path
    server_url: str
    sandbox: sandbox.Wanted = "auto"
    allow_root: bool = False


def confining(setting: Setting) -> tuple[sandbox.Name, list[str]]:
    """What confines agents' programs here, and what to warn of. Raises sandbox.Unconfined."""
    return sandbox.decide(
        setting.sandbox,
        sandbox.AGENT,
        sandbox.probe(),
        uid=os.geteuid(),
        allow_root=setting.allow_root,
    )


class Unready(Exception):
    """A turn that cannot begin as its agent is set up; the text says why, for whoever waits."""


class Performance:
    """One turn being performed. `asked` are its open questions: our request_id → the runtime's."""

    def __init__(self, setting: Setting, placed: Placed, work: Work, token: str) -> None:
        self.work = work
        self.asked: dict[str, str] = {}
        self.signed_at = 0.0  # when its last sign of life was written down
        self._setting = setting
        self._placed = placed
        self._token = token
        self._execution: Execution | None = None
        self._open = functools.partial(_opened, work, setting.root / work.host.agent_id)
        self._stopped = ""
        self._interrupted = False
        self._task: asyncio.Task[Ending] | None = None
        call_id = work.call.call_id if work.call else ""
        self.recorder = Recorder(
            setting.store, work.turn.turn_id, call_id, self._note_question, self.stop
        )

    async def run(self) -> Ending:
        """Perform it. Returns when nothing of it lives and all it said is written."""
        if self._interrupted:
            return Ending(state="interrupted", reason=settling.STOPPED)
        self._task = asyncio.create_task(self._perform())
        await asyncio.wait({self._task})
        ending = self._ending(self._task)
        await self.recorder.finished()
        return ending

    def _ending(self, task: asyncio.Task[Ending]) -> Ending:
        if task.cancelled() or (self._interrupted and task.exception() is not None):
            return Ending(state="interrupted", reason=settling.STOPPED)
        raised = task.exception()
        if raised is None:
            return task.result()
        if isinstance(raised, Unready | NoSuchEnvironment | files.BadName | OSError):
            return Ending(state="failed", reason=f"it could not begin: {raised}")
        fault_id = clock.new_id("fault")
        _LOG.error("fault %s in turn %s", fault_id, self.work.turn.turn_id, exc_info=raised)
        return Ending(state="failed", reason=f"a fault of the server, {fault_id}; see its log")

    # ── what others do to it ─────────────────────────────────────────────────────────────────

    def interrupt(self) -> None:
        """The server stops: end everything of it; it will be interrupted."""
        self._interrupted = True
        self.recorder.give_up()
        if self._task is not None:
            self._task.cancel()

    def stop(self, reason: str) -> None:
        """Ask it to end; it fails with this reason unless it answers first."""
        self._stopped = self._stopped or reason
        if self._execution is not None:
            self._execution.stop(self._stopped)

    async def steer(self, text: str) -> bool:
        """Text into it; False when that must wait for the next turn."""
        return self._execution is not None and await self._execution.steer(text)

    async def answer(self, request_id: str, answer: Any) -> bool:
        """The answer to a question of its runtime; False when the runtime does not wait for it."""
        asked = self.asked.pop(request_id, None)
        if asked is None or self._execution is None:
            return False
        return await self._execution.answer(asked, answer)

    def alive(self) -> None:
        """It acts elsewhere, or waits for a person: that is no silence."""
        if self._execution is not None:
            self._execution.alive()

    def silence(self) -> float:
        """Seconds since its last sign of life; 0 before it has begun."""
        return self._execution.silence() if self._execution is not None else 0.0

    def _note_question(self, request_id: str, question: NeedInput) -> None:
        self.asked[request_id] = question.request_id

    # ── the turn itself ──────────────────────────────────────────────────────────────────────

    async def _perform(self) -> Ending:
        work = self.work
        await self._placed.bring(work.host.agent_id, work.files)
        runtime = self._open()
        able = runtime.probe()
        if not able.available:
            raise Unready(f"the {runtime.name} runtime cannot run here: {able.why}")
        made = self._folders(private=not able.in_process)
        try:
            level: sandbox.Name = "none"
            if not able.in_process:  # else it starts no program that could be confined
                level = await asyncio.to_thread(self._level)
            confinement = folders.confinement(made, level, project_writable=work.writes_project)
            turn = self._turn(made)
            await self._note_begun()
            schema = turn.result_schema
            outcome = await results.fulfil(
                functools.partial(self._execute, confinement),
                turn,
                made,
                None if schema is None else functools.partial(result_problems, schema),
                corrects=able.corrects,
            )
        finally:
            if not _cleared_at_once(made, private=not able.in_process):
                await asyncio.shield(asyncio.to_thread(_clear, made))
        if outcome.leftovers:
            _LOG.info("turn %s left programs running: %s", turn.turn_id, outcome.leftovers)
        return ending_of(outcome)

    async def _execute(self, confinement: sandbox.Confinement, turn: Turn) -> Outcome:
        self.asked.clear()  # a correction asks anew
        self._execution = Execution(self._open(), turn, self.recorder.tell, confinement)
        if self._stopped:
            self._execution.stop(self._stopped)
        return await self._execution.run()

    def _folders(self, *, private: bool) -> Folders:
        """A call's turns share its folder; any other turn has one of its own."""
        work, call = self.work, self.work.call
        return folders.prepare(
            self._setting.root,
            work.host.agent_id,
            call.call_id if call else work.turn.turn_id,
            again=call is not None and call.started_at is not None,
            private=private,
        )

    def _level(self) -> sandbox.Name:
        """What confines its programs. Blocks a moment, when it is found out for the first time."""
        try:
            return confining(self._setting)[0]
        except sandbox.Unconfined as why:
            raise Unready("; ".join(why.problems)) from None

    def _turn(self, made: Folders) -> Turn:
        work, call = self.work, self.work.call
        env = folders.environment(
            made,
            call_id=call.call_id if call else "",
            server_url=self._setting.server_url,
            token=self._token,
        )
        idle = float(work.host.idle_seconds)
        return Turn(
            turn_id=work.turn.turn_id,
            prompt=prompt_of(work, made),
            cwd=made.agent,
            system=work.host.instructions,
            conversation_id=work.turn.chat_id,
            call_id=call.call_id if call else "",
            session_ref=work.host.session_ref or "",
            env=env,
            output=made.out,
            result_file=made.result_file if call else None,
            result_schema=json.loads(call.result_schema) if call and call.result_schema else None,
            limits=Limits(
                idle_seconds=idle,
                hard_seconds=idle * limits.TURN_HARD_FACTOR,
                grace_seconds=limits.STOP_GRACE_SECONDS,
            ),
            server_url=self._setting.server_url,
            token=self._token,
        )

    async def _note_begun(self) -> None:
        """Its messages are admitted and its wakeups fired: from here on it may have effects."""
        work = self.work
        if work.messages or work.reasons:
            try:
                await self._setting.store.transact(functools.partial(_begun, work=work))
            except (Full, Held) as cannot:
                raise Unready(f"the store cannot note it ({type(cannot).__name__})") from None


def _begun(tx: Transaction, work: Work) -> None:
    turn_id = work.turn.turn_id
    wakeups.settle(tx, turn_id, "fired")
    if work.lane is not None:
        deliveries.move(tx, work.lane.conversation_id, turn_id, "dispatching", "admitted")


def _opened(work: Work, folder: Path) -> Runtime:
    settings = json.loads(work.host.runtime or "{}")
    name = str(settings.pop("name", ""))
    try:
        return runtimes.open_runtime(name, settings, folder)
    except runtimes.WrongSettings as why:
        raise Unready("; ".join(why.problems)) from None


def _cleared_at_once(made: Folders, *, private: bool) -> bool:
    """Remove the folders of a turn that left nothing in them; False when there is more to do."""
    alone = (made.work, made.home, made.tmp) if private else ()
    try:
        for folder in (*alone, made.out, made.turn):
            folder.rmdir()
    except OSError:
        return False
    return True


def _clear(made: Folders) -> None:
    """Remove what was private to the turn, and its folder when it has produced nothing."""
    folders.discard_private(made)
    if not files.listing(made.root, *made.out.relative_to(made.root).parts).files:
        folders.remove(made.turn)


def ending_of(outcome: Outcome) -> Ending:
    """An outcome as it is kept."""
    text = outcome.text
    if outcome.text_file:
        text += f"\n… the whole answer is in the file {outcome.text_file}"
    return Ending(
        state=outcome.state,
        reason=outcome.reason,
        answer=text,
        result="" if outcome.result is UNSET else json.dumps(outcome.result, ensure_ascii=False),
        result_file=outcome.result_file or outcome.text_file,
        partial=outcomes.shortened(outcome.partial, limits.PARTIAL_LENGTH_MAX),
        usage="" if outcome.usage == Usage() else json.dumps(msgspec.structs.asdict(outcome.usage)),
        files=msgspec.json.encode(outcome.files).decode() if outcome.files else "",
        session_ref=outcome.session_ref,
    )
