"""The `python` runtime: a file with `async def reply(turn)`, run by `python_host.py`.

It is a program like any other, so it gets the same sandbox, clock and kill as `command`; what the
file may do is described in the host. The platform is reached through `turn.call(operation, args)`
with the turn's own token.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from agentworks.contracts import PROTOCOL
from agentworks.runners import files
from agentworks.runners.runtime import Capabilities, Event, Program, Turn
from agentworks.runners.runtimes import WrongSettings, settings_of
from agentworks.runners.runtimes.command import events_in_lines, line

HOST = Path(__file__).resolve().parents[1] / "python_host.py"


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`file` is a path in the agent's folder; `python` another interpreter than the server's."""

    file: Annotated[str, Meta(min_length=1, max_length=1_000)]
    python: Annotated[str, Meta(max_length=1_000)] = ""
    steer: bool = False
    corrects: bool = True  # false: never run it again to correct its result


def open_runtime(settings: Mapping[str, Any], folder: Path) -> Python:
    chosen = settings_of(Settings, settings)
    problems = files.name_problems(chosen.file)
    if "\0" in chosen.python:
        problems.append("python must not have a NUL character")
    if problems:
        raise WrongSettings(problems)
    return Python(chosen, folder)


@cache
def routes() -> dict[str, str]:
    """Operations by their name and by their tools' names, as METHOD /path."""
    found = {}
    for operation in PROTOCOL:
        if operation.http:
            for name in (operation.name, *operation.tools):
                found[name] = operation.http
    return found


class Python:
    """One turn of a Python file."""

    name = "python"

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self._program: Program | None = None

    def probe(self) -> Capabilities:
        there = (self.folder / self.settings.file).is_file()
        return Capabilities(
            available=there,
            why=f"{self.settings.file} is {'there' if there else 'not in the folder of the agent'}",
            streams=True,
            steers=self.settings.steer,
            asks=True,
            uses_tools=True,
            corrects=self.settings.corrects,
        )

    async def run(self, turn: Turn) -> AsyncIterator[Event]:
        python = self.settings.python or sys.executable
        argv = [python, "-I", "-B", str(HOST), str(self.folder / self.settings.file)]
        self._program = program = await turn.launch(argv, read=[HOST])
        program.write(
            line(
                {
                    "prompt": turn.prompt,
                    "system": turn.system,
                    "conversation_id": turn.conversation_id,
                    "call_id": turn.call_id,
                    "session_ref": turn.session_ref,
                    "result_schema": turn.result_schema,
                    "routes": routes(),
                }
            )
        )
        async for event in events_in_lines(program):
            yield event

    async def steer(self, text: str) -> bool:
        return self.settings.steer and self._say({"type": "steer", "text": text})

    async def answer(self, request_id: str, answer: Any) -> bool:
        return self._say({"type": "answer", "request_id": request_id, "answer": answer})

    def _say(self, said: dict[str, Any]) -> bool:
        return self._program is not None and self._program.write(line(said))

    async def stop(self, grace: float) -> None:
        """The supervisor sends SIGTERM."""
