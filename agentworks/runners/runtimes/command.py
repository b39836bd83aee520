"""The `command` runtime: any program. The prompt on stdin, the answer on stdout.

What the agent is told before anything else, its instructions, stands before the prompt.

With `events = "text"` all of stdout is the answer; exit code 0 means it is one. With
`events = "jsonl"` each line of stdout is one event, in the words of `runners/runtime.py`:

    {"type": "progress", "text": "reading the diff"}
    {"type": "text", "text": "piece of the answer"}
    {"type": "tool_call", "tool": "grep", "input": {…}, "use_id": "1"}
    {"type": "tool_result", "tool": "grep", "output": …, "use_id": "1", "ok": true}
    {"type": "need_input", "request_id": "q1", "question": "Deploy?", "schema": {…}}
    {"type": "usage", "input_tokens": 10, "output_tokens": 5, "cost_usd": 0.01}
    {"type": "started", "session_ref": "…"}
    {"type": "final", "text": "the answer", "result": …}     or
    {"type": "failed", "reason": "…", "partial": "…"}

Other lines are ignored. stdin is closed after the prompt; with `steer = true` (jsonl only) it stays
open and carries JSON lines instead: {"type": "prompt", "prompt", "system", "session_ref"} first,
then {"type": "steer", "text"} and {"type": "answer", "request_id", "answer"}.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from agentworks.runners.folders import PROGRAM_PATH
from agentworks.runners.runtime import (
    Capabilities,
    Event,
    Exit,
    Failed,
    Final,
    NotStarted,
    Program,
    Text,
    Turn,
)
from agentworks.runners.runtimes import WrongSettings, settings_of

_REASON_LENGTH = 2_000  # characters of stderr in a reason
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_EVENT = msgspec.json.Decoder(Event)

Word = Annotated[str, Meta(max_length=10_000)]


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`argv` is run in the agent's folder; a relative program is looked for there."""

    argv: Annotated[list[Word], Meta(min_length=1, max_length=1_000)]
    events: Literal["text", "jsonl"] = "text"
    steer: bool = False
    corrects: bool = True  # false: never run it again to correct its result


def open_runtime(settings: Mapping[str, Any], folder: Path) -> Command:
    chosen = settings_of(Settings, settings)
    problems = []
    if not chosen.argv[0]:
        problems.append("argv: the program's name is empty")
    if any("\0" in word for word in chosen.argv):
        problems.append("argv must not have NUL characters")
    if chosen.steer and chosen.events != "jsonl":
        problems.append('steer needs events = "jsonl"')
    if problems:
        raise WrongSettings(problems)
    return Command(chosen, folder)


class Command:
    """One turn of a program."""

    name = "command"

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self._program: Program | None = None

    def probe(self) -> Capabilities:
        program = self.settings.argv[0]
        found = (
            (self.folder / program).is_file() if "/" in program else _on_path(program) is not None
        )
        jsonl = self.settings.events == "jsonl"
        return Capabilities(
            available=found,
            why=f"{program} is {'there' if found else f'not found in {PROGRAM_PATH}'}",
            streams=True,
            resumes=jsonl,
            steers=self.settings.steer,
            asks=jsonl,
            corrects=self.settings.corrects,
        )

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        first, *rest = self.settings.argv
        if "/" in first:
            first = str(self.folder / first)  # an absolute one stays what it is
        try:
            self._program = program = await turn.launch([first, *rest])
        except NotStarted as why:  # callers read this: where we keep agents is not for them
            raise NotStarted(str(why).replace(f"{self.folder}/", "")) from None
        self._begin(turn, program)
        if self.settings.events == "text":
            async for event in answer_in_text(program, turn.limits.output_bytes):
                yield event
            return
        async for event in events_in_lines(program):
            yield event

    def _begin(self, turn: Turn, program: Program) -> None:
        if not self.settings.steer:
            program.write("\n\n".join(filter(None, (turn.system, turn.prompt))))
            program.close_stdin()
            return
        said = {
            "type": "prompt",
            "prompt": turn.prompt,
            "system": turn.system,
            "session_ref": turn.session_ref,
        }
        program.write(line(said))

    async def steer(self, text: str) -> bool:
        return self._say({"type": "steer", "text": text})

    async def answer(self, request_id: str, answer: Any) -> bool:
        return self._say({"type": "answer", "request_id": request_id, "answer": answer})

    def _say(self, said: dict[str, Any]) -> bool:
        return self.settings.steer and self._program is not None and self._program.write(line(said))

    async def stop(self, grace: float) -> None:
        """Nothing to ask of an unknown program; the supervisor sends SIGTERM."""


def line(said: dict[str, Any]) -> str:
    return msgspec.json.encode(said).decode() + "\n"


def _on_path(program: str) -> str | None:
    return shutil.which(program, path=PROGRAM_PATH)


async def answer_in_text(program: Program, most: int) -> AsyncIterator[Event]:
    """All of stdout as the answer; above `most` bytes the turn fails with what was kept."""
    kept: list[str] = []
    size = 0
    async for chunk in program.chunks():
        if size <= most:
            kept.append(chunk)
            yield Text(chunk)
        size += len(chunk.encode("utf-8", "replace"))
    ended = await program.ended()
    answer = "".join(kept).rstrip("\r\n")
    if not ended.well:
        yield Failed(reason=ending(ended, program), partial=answer)
    elif size > most:
        yield Failed(reason=f"its answer has more than {most:,} bytes", partial=answer)
    else:
        yield Final(text=answer)


async def events_in_lines(program: Program) -> AsyncIterator[Event]:
    """Each line of stdout that is an event; the end without a final one is a failure."""
    noise = ""
    async for text in program.lines():
        event = event_in(text)
        if event is None:
            noise = text
            continue
        yield event
        if isinstance(event, Final | Failed):
            break
    else:
        ended = await program.ended()
        cut = f"; its last line is no event: {noise[:200]}" if noise else ""
        yield Failed(reason=f"no final event; {ending(ended, program)}{cut}")


def event_in(text: str) -> Event | None:
    """The event a line is, without colours if need be; None for any other line."""
    for form in (text, _COLOUR.sub("", text)):
        try:
            return _EVENT.decode(form)
        except (msgspec.DecodeError, RecursionError):
            continue
    return None


def ending(ended: Exit, program: Program) -> str:
    """How a program ended and the last it said on stderr, for a person."""
    if ended.signal is not None:
        how = f"it was ended by signal {ended.signal}"
    elif ended.code is not None:
        how = f"it ended with exit code {ended.code}"
    else:
        how = "it ended with its keeper"
    said = _COLOUR.sub("", program.said_last(_REASON_LENGTH)).strip()
    return f"{how}: {said}" if said else how
