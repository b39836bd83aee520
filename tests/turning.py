"""A World whose turns run: real programs and rules, with the runner in the test's own process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from agentworks.contracts.agents import ASK
from agentworks.contracts.calls import GET, REPLY
from agentworks.contracts.functions import CALL
from agentworks.contracts.operation import Operation
from agentworks.contracts.refusal import Input
from agentworks.dispatch import Dispatch
from agentworks.identity import callers
from agentworks.rules.names import name_key
from agentworks.runners import folders, processes
from agentworks.runners.errands import errands
from agentworks.runners.performing import Setting
from agentworks.runners.turns import TurnRunner
from agentworks.store import Transaction
from agentworks.tables import agents, chats, functions, members
from handlers import HANDLERS
from tests.conftest import World
from tests.programs import until

SOON_SECONDS = 10
AGENTS = "agents"
WAIT = "until [ -e go ]; do sleep 0.02; done; "  # a script until its agent's folder has `go`
Done = TypeVar("Done")


class Turning:
    """Crews of a World's accounts, and the runner that performs their turns."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.root = folder / AGENTS
        setting = Setting(
            store=world.store,
            root=self.root,
            server_url="http://127.0.0.1:1",
            sandbox="none",
            allow_root=True,
        )
        self.turns = TurnRunner(setting, world.bells)
        world.dispatch = Dispatch(
            world.store,
            world.bells,
            HANDLERS,
            used=self.turns.note,
            errands=errands(self.root),
        )

    # ── who is there ─────────────────────────────────────────────────────────────────────────

    def crew(
        self,
        name: str,
        runtime: dict[str, Any] | None,
        *,
        account_id: str = "acc_ada",
        kind: str = "crew",
        **more: Any,
    ) -> str:
        """A new agent with this runtime, which everybody in `runners` may ask and call."""
        agent_id = self.world.transact(
            lambda tx: add_crew(tx, name, runtime, account_id=account_id, kind=kind, **more)
        )
        (self.root / agent_id).mkdir(parents=True)
        return agent_id

    # ── what is done ─────────────────────────────────────────────────────────────────────────

    async def ask(self, target: str, message: str, who: str = "worker", **more: Any) -> Any:
        return await self.act(ASK, who, target=target, message=message, **more)

    async def call(self, target: str, function: str, who: str = "worker", **more: Any) -> Any:
        return await self.act(CALL, who, target=target, function=function, **more)

    async def get(self, call_id: str, who: str = "worker", **more: Any) -> Any:
        return await self.act(GET, who, call_id=call_id, **more)

    async def reply(self, call_id: str, request_id: str, answer: Any, who: str = "worker") -> Any:
        return await self.act(REPLY, who, call_id=call_id, request_id=request_id, answer=answer)

    async def act(self, operation: Operation[Any, Any], who: str, **args: Any) -> Any:
        """One operation, by a connection's name or a turn's token."""
        credential = (
            callers.bearer(f"Bearer {who}") if who.startswith("awt_") else self.world.who(who)
        )
        return await self.world.dispatch(operation, credential, args)

    async def settled(self, call_id: str, who: str = "worker") -> Any:
        """The call once it is no longer working."""
        return await self.until(call_id, lambda call: status(call) != "working", who)

    async def until(self, call_id: str, true: Callable[[Any], bool], who: str = "worker") -> Any:
        """The call as soon as something is true of it."""
        async with asyncio.timeout(SOON_SECONDS):
            call = await self.get(call_id, who)
            while not true(call):
                call = await self.get(call_id, who, after=call.revision, wait_seconds=5)
            return call

    def play(self, scene: Callable[[], Coroutine[Any, Any, Done]]) -> Done:
        """A scene while the runner runs. After it nothing that was started lives."""

        async def whole() -> Done:
            async with self.running():
                return await scene()

        return self.world.run(whole())

    async def token(self, call_id: str, who: str = "worker") -> str:
        """The token of the running turn of an agent that is `telling` it."""
        call = await self.until(call_id, lambda call: bool(call.progress), who)
        return str(call.progress[-1].line)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The runner at work; when it has stopped, nothing it started lives."""
        self.turns.start()
        try:
            yield
        finally:
            await self.turns.stop()
        assert processes.marked(folders.every_marker(self.root.resolve())) == set()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def idle(self) -> None:
        """Until no turn runs."""
        await until(lambda: self.turns.running == 0, SOON_SECONDS)

    def folder(self, name: str) -> Path:
        """An agent's folder."""
        agent_id = self.value(
            "SELECT agent_id FROM agents WHERE name_key = :key", key=name_key(name)
        )
        return self.root / str(agent_id)

    def value(self, sql: str, **values: Any) -> Any:
        """The first column of the only row."""
        return self.world.store.read(lambda db: db.value(sql, **values))[0]


def status(answer: Any) -> str:
    return str(answer.__struct_config__.tag)


def function(name: str, *inputs: Input, instructions: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "inputs": inputs, "instructions": instructions, **more}


def add_crew(
    tx: Transaction,
    name: str,
    runtime: dict[str, Any] | None,
    *,
    account_id: str,
    kind: str = "crew",
    offers: Sequence[dict[str, Any]] = (),
    runners: Sequence[str] = (),
    instructions: str = "",
    messaging: bool = True,
    idle_seconds: int = 3_600,
) -> str:
    """The rows of one agent; returns its id."""
    agent_id = tx.new_uuid() if kind == "crew" else tx.new_id(kind)
    agents.add(tx, agent_id, kind, account_id, name, name_key(name))
    agents.change(
        tx,
        agent_id,
        name,
        name_key(name),
        f"{name}, for tests",
        instructions,
        messaging,
        None if runtime is None else json.dumps(runtime),
        idle_seconds,
    )
    for place, offer in enumerate(offers):
        schema = offer.get("result_schema")
        functions.put(
            tx,
            agent_id,
            offer["name"],
            place,
            "",
            functions.inputs_text(offer["inputs"]),
            None if schema is None else json.dumps(schema),
            "",
            offer["instructions"],
        )
    for runner in runners:
        members.put(tx, agent_id, runner, "runner")
    return agent_id


def own_chat(tx: Transaction, agent_id: str) -> str:
    """The agent's own chat, begun if there is none."""
    found = chats.continued(tx, agent_id, "own", chats.OWN)
    return found.chat_id if found else chats.begin(tx, agent_id, "builder", "own", chats.OWN, "own")


# ── runtimes ─────────────────────────────────────────────────────────────────────────────────


def scripted(*steps: dict[str, Any], **rules: list[dict[str, Any]]) -> dict[str, Any]:
    """Rules by pattern; `steps` are for every other prompt."""
    return {
        "name": "scripted",
        "rules": [{"match": match, "steps": list(found)} for match, found in rules.items()],
        "otherwise": list(steps),
    }


def program(script: str, **more: Any) -> dict[str, Any]:
    """A shell script as an agent."""
    return {"name": "command", "argv": ["/bin/sh", "-c", script], **more}


def telling(script: str) -> dict[str, Any]:
    """A script (jsonl) that first tells its turn's token as progress; see `Turning.token`."""
    line = """echo '{"type":"progress","text":"'$AGENTWORKS_TOKEN'"}'; """
    return program(line + script, events="jsonl")


def tells(*events: dict[str, Any]) -> str:
    """A script that tells these events, as jsonl."""
    return "; ".join(f"echo '{json.dumps(each)}'" for each in events) + "; "
