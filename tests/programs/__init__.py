"""Small agent programs, most of them hostile, and how a test performs a turn with one."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from agentworks.runners import folders, nursery, runtimes, sandbox, tree
from agentworks.runners.folders import Folders
from agentworks.runners.outcomes import Outcome
from agentworks.runners.runtime import Limits, Told, Turn
from agentworks.runners.supervisor import Execution, Tell

HERE = Path(__file__).parent
QUICK = Limits(
    idle_seconds=0.5, hard_seconds=20, grace_seconds=0.3, linger_seconds=0.3, output_bytes=2 << 20
)
PATIENT = structs.replace(QUICK, idle_seconds=15)
Done = TypeVar("Done")


def program(name: str, *words: str) -> dict[str, Any]:
    """`command` settings that run a program of this folder."""
    path = HERE / name
    first = [sys.executable, "-S"] if name.endswith(".py") else ["/bin/sh"]
    return {"argv": [*first, str(path), *words]}


def shell(script: str) -> dict[str, Any]:
    return {"argv": ["/bin/sh", "-c", script]}


class Stage:
    """One agent with its folders, on which turns are performed one after the other."""

    def __init__(self, root: Path, level: sandbox.Name = "none") -> None:
        self.root = root / "agents"
        self.level = level
        self.told: list[Told] = []
        self.count = 0
        self.agent = self.root / "crew-1"
        self.agent.mkdir(parents=True, exist_ok=True)

    def turn(self, prompt: str = "", **more: Any) -> tuple[Turn, Folders]:
        self.count += 1
        call_id = f"call_{self.count}"
        made = folders.prepare(self.root, "crew-1", call_id)
        variables: Mapping[str, str] = more.pop("variables", {})
        secrets: Mapping[str, str] = more.pop("secrets", {})
        env = folders.environment(
            made,
            call_id=call_id,
            server_url=more.get("server_url", ""),
            token=more.get("token", "turn-token"),
            variables=variables,
            secrets=secrets,
        )
        given = {
            "turn_id": call_id,
            "call_id": call_id,
            "prompt": prompt,
            "cwd": self.agent,
            "env": env,
            "output": made.out,
            "result_file": made.result_file,
            "limits": PATIENT,
            "token": env["AGENTWORKS_TOKEN"],
            **more,
        }
        return Turn(**given), made

    def execution(
        self, name: str, settings: Mapping[str, Any], turn: Turn, made: Folders, tell: Tell
    ) -> Execution:
        runtime = runtimes.open_runtime(name, settings, self.agent)
        bounds = folders.confinement(made, self.level, read=(HERE,))
        return Execution(runtime, turn, tell, bounds)

    async def perform(
        self,
        settings: Mapping[str, Any],
        prompt: str = "",
        *,
        runtime: str = "command",
        **more: Any,
    ) -> Outcome:
        turn, made = self.turn(prompt, **more)
        return await self.execution(runtime, settings, turn, made, self.tell).run()

    async def tell(self, told: Told) -> None:
        self.told.append(told)

    def kinds(self) -> list[str]:
        return [type(told).__name__ for told in self.told]


def run(acting: Coroutine[Any, Any, Done]) -> Done:
    """Run to the end, and see that nothing of any turn lives after it."""

    async def scene() -> Done:
        done = await acting
        await until(lambda: living() == {}, 2)  # a keeper needs a moment to leave
        return done

    return asyncio.run(scene())


def living() -> dict[int, str]:
    """What the nursery still has: keepers and programs."""
    return {pid: tree.name_of(pid) for pid in tree.descendants(nursery.nursery().pid)}


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def until(true: Callable[[], bool], seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)
