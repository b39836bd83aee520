"""What a turn says while it runs, written down in small batches.

A line is written at once when the writer is idle, so that whoever waits hears of it within
milliseconds; while a batch is being written the next one gathers. A flood is thinned to the lines
that would be kept anyway. When the store cannot write (a full disk), it is tried again.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct, field, structs

from agentworks import settling
from agentworks.rules import limits
from agentworks.rules.schemas import schema_problems
from agentworks.runners.runtime import NeedInput, Progress, Started, Text, TimedOut, Told, ToolCall
from agentworks.store import Full, Held, Store, Transaction
from agentworks.tables import calls, executions, questions

_LOG = logging.getLogger("agentworks.turns")
_AGAIN_SECONDS = 1.0  # between two tries to write
_SOON_SECONDS = 0.1  # until it is written what an agent does now, when it says nothing else
_ACTIVITY_LENGTH_MAX = 200  # characters of what a call is said to be doing
_SECRET = ("secret", "credential", "one_time_code")
_DURABLE = ("durable", "create_human_input_request")

Asked = Callable[[str, NeedInput], None]


class Batch(Struct):
    """What is to be written next. A new one is empty."""

    lines: list[str] = field(default_factory=list)
    activity: str | None = None
    asked: list[NeedInput] = field(default_factory=list)
    timed_out: str = ""

    @property
    def empty(self) -> bool:
        return self == Batch()

    @property
    def urgent(self) -> bool:
        """More than what it does now: that may wait a moment, and often is over by then."""
        return bool(self.lines or self.asked or self.timed_out)


class Recorder:
    """Takes the events of one turn of a call, in order, and writes what a caller may see of them.

    `on_asked` is told the request_id under which each question was put. `refuse` is told why a
    question cannot be put at all.
    """

    def __init__(
        self,
        store: Store,
        turn_id: str,
        call_id: str,
        on_asked: Asked,
        refuse: Callable[[str], None],
    ) -> None:
        self._store = store
        self._turn_id = turn_id
        self._call_id = call_id
        self._on_asked = on_asked
        self._refuse = refuse
        self._batch = Batch()
        self._writing: asyncio.Task[None] | None = None
        self._soon: asyncio.TimerHandle | None = None
        self._activity = ""
        self._open = 0  # questions put so far
        self._given_up = False

    async def tell(self, told: Told) -> None:
        """One event. Never waits for the store."""
        self._take(told)
        if not self._call_id or self._batch.empty or self._is_writing:
            return
        if self._batch.urgent:
            self._writing = asyncio.create_task(self._write())
        elif self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(_SOON_SECONDS, self._say_activity)

    async def finished(self) -> None:
        """All that was told is written, or was given up. What it did last matters no more."""
        if self._soon is not None:
            self._soon.cancel()
        if self._is_writing and self._writing is not None:
            await asyncio.shield(self._writing)

    @property
    def _is_writing(self) -> bool:
        return self._writing is not None and not self._writing.done()

    def _say_activity(self) -> None:
        self._soon = None
        if not self._batch.empty and not self._is_writing:
            self._writing = asyncio.create_task(self._write())

    def give_up(self) -> None:
        """The server stops: what cannot be written is not tried again."""
        self._given_up = True

    def _take(self, told: Told) -> None:
        batch = self._batch
        if isinstance(told, Progress):
            batch.lines.append(told.text)
            del batch.lines[: -limits.PROGRESS_LINES_KEPT_MAX]
        elif isinstance(told, NeedInput):
            self._ask(told)
        elif isinstance(told, TimedOut):
            batch.timed_out = told.reason
        else:
            self._now(_activity(told))

    def _now(self, activity: str | None) -> None:
        """What it does now; said only when it is something else than before."""
        if activity is not None and activity != self._activity:
            self._batch.activity = self._activity = activity

    def _ask(self, question: NeedInput) -> None:
        if not self._call_id:
            self._refuse("it asked a question, and nobody can answer one in this conversation")
            return
        self._open += 1
        if self._open > limits.QUESTIONS_PER_TURN_MAX:
            self._refuse(
                f"it asked more than {limits.QUESTIONS_PER_TURN_MAX} questions in one turn"
            )
            return
        if question.schema is not None and schema_problems(question.schema, "schema"):
            question = structs.replace(question, schema=None)  # what cannot be checked asks nothing
        self._batch.asked.append(question)
        self._now("waiting for an answer")

    async def _write(self) -> None:
        while not self._batch.empty:
            batch, self._batch = self._batch, Batch()
            for request_id, question in zip(await self._put(batch), batch.asked, strict=False):
                self._on_asked(request_id, question)

    async def _put(self, batch: Batch) -> list[str]:
        """Write one batch, however often that must be tried; the request_ids of its questions."""
        while True:
            try:
                return await self._store.transact(partial(self._kept, batch=batch))
            except (Full, Held) as cannot:
                _LOG.warning("a turn's events wait: %s", type(cannot).__name__)
                if self._given_up:
                    return []
                await asyncio.sleep(_AGAIN_SECONDS)

    def _kept(self, tx: Transaction, batch: Batch) -> list[str]:
        """Write one batch; returns the request_ids of its questions."""
        last = executions.note(tx, self._call_id, len(batch.lines), batch.activity)
        if last is None:
            return []  # gone with its agent
        first = last - len(batch.lines) + 1
        for number, line in enumerate(batch.lines, first):
            executions.add_line(tx, self._call_id, number, line)
        if batch.lines and first > 1:
            executions.drop_lines(tx, self._call_id, last - limits.PROGRESS_LINES_KEPT_MAX)
        tx.ring(calls.bell(self._call_id))
        if batch.timed_out:
            settling.time_out(tx, self._call_id, batch.timed_out)
        return [self._question(tx, question) for question in batch.asked]

    def _question(self, tx: Transaction, question: NeedInput) -> str:
        kind = kind_of(question.kind)
        expires_at = None
        if kind != "durable":
            expires_at = tx.now + limits.FEEDBACK_SECONDS_MAX * 1_000
        return questions.ask(
            tx,
            self._turn_id,
            self._call_id,
            kind,
            question.question,
            None if question.schema is None else json.dumps(question.schema),
            expires_at,
        )


def kind_of(word: str) -> str:
    """A runtime's word for a kind of question, as ours: feedback, durable or secret."""
    if word in _SECRET:
        return "secret"
    return "durable" if word in _DURABLE else "feedback"


def _activity(told: Any) -> str | None:
    """What an event says the agent is doing; None for those that change nothing."""
    if isinstance(told, Started):
        return "working"
    if isinstance(told, Text):
        return "writing its answer"
    if isinstance(told, ToolCall):
        return f"using {told.tool}"[:_ACTIVITY_LENGTH_MAX]
    return None
