"""The program that runs a `python` agent: a file with `async def reply(turn)`.

It runs in the agent's sandbox with the standard library alone (and whatever the chosen Python has),
so it imports nothing of ours. It speaks the events of `runtimes/command.py` on what was its
stdout; the agent's own prints go to stderr.

    async def reply(turn):
        await turn.progress("reading")
        listed = await turn.call("agents.list", {})
        sure = await turn.ask("Really?", {"type": "boolean"})
        return "done"                    # text, or any JSON value as a structured result

As an async generator, every string it yields is told as progress and the last thing it yields is
the answer.
"""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import inspect
import json
import os
import sys
import threading
import traceback
import urllib.parse
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

_CALL_SECONDS = 150  # an internal wait may take 120 seconds ([S0] "External waits…")
_IN_BODY = ("POST", "PUT", "PATCH")


class NoSuchOperation(Exception):
    """The operation is not one this server offers over HTTP."""


def call(
    server: str, token: str, routes: Mapping[str, str], operation: str, args: Mapping[str, Any]
) -> dict[str, Any]:
    """One operation over HTTP, by its name or a tool's; its JSON answer, refusals too.

    Raises NoSuchOperation; OSError or HTTPException when the server cannot be reached; ValueError
    when its answer is no JSON object.
    """
    if operation not in routes:
        raise NoSuchOperation(f"{operation}; there are: {', '.join(sorted(routes))}")
    method, path = routes[operation].split(" ", 1)
    rest = dict(args)
    for name in [part[1:-1] for part in path.split("/") if part.startswith("{")]:
        value = urllib.parse.quote(str(rest.pop(name, "")), safe="")
        path = path.replace("{" + name + "}", value)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    body = None
    if method in _IN_BODY:
        body = json.dumps(rest).encode()
        headers["Content-Type"] = "application/json"
    elif rest:
        spelled = {k: v if isinstance(v, str) else json.dumps(v) for k, v in rest.items()}
        path += "?" + urllib.parse.urlencode(spelled)
    return _exchange(server, method, path, body, headers)


def _exchange(
    server: str, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> dict[str, Any]:
    where = urllib.parse.urlsplit(server)
    kind = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
    connection = kind(where.hostname or "", where.port, timeout=_CALL_SECONDS)
    try:
        connection.request(method, where.path.rstrip("/") + path, body, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
    finally:
        connection.close()
    if not isinstance(answer, dict):
        raise ValueError(f"{method} {path} answered {response.status} without a JSON object")
    return answer


class Turn:
    """What `reply` is given. Attributes describe the turn; methods speak to the platform."""

    def __init__(self, given: Mapping[str, Any], say: Callable[[Mapping[str, Any]], None]) -> None:
        self.prompt: str = given["prompt"]
        self.system: str = given["system"]
        self.conversation_id: str = given["conversation_id"]
        self.call_id: str = given["call_id"]
        self.session_ref: str = given["session_ref"]
        self.result_schema: dict[str, Any] | None = given["result_schema"]
        self.variables = {
            name.removeprefix("VAR_"): value
            for name, value in os.environ.items()
            if name.startswith("VAR_")
        }
        self.outputs = _path("CREW_OUTPUT_DIR")
        self.output = _path("FUNCTION_OUTPUT_DIR")
        self.result_file = _path("FUNCTION_RESULT_FILE")
        self._routes: dict[str, str] = given["routes"]
        self._say = say
        self._questions: dict[str, asyncio.Future[Any]] = {}
        self._asked = 0
        self._steers: asyncio.Queue[str] = asyncio.Queue()

    async def progress(self, text: str) -> None:
        """One line for the caller about what is being done."""
        self._say({"type": "progress", "text": str(text)})
        await asyncio.sleep(0)

    async def text(self, piece: str) -> None:
        """A piece of the answer, as it is written."""
        self._say({"type": "text", "text": str(piece)})
        await asyncio.sleep(0)

    async def usage(self, **counts: float) -> None:
        """input_tokens, output_tokens, cached_tokens, cost_usd used since the last time."""
        self._say({"type": "usage", **counts})

    async def ask(self, question: str, schema: Mapping[str, Any] | None = None) -> Any:
        """Ask a person and wait for the answer."""
        self._asked += 1
        request_id = f"question_{self._asked}"
        answer = asyncio.get_running_loop().create_future()
        self._questions[request_id] = answer
        self._say(
            {
                "type": "need_input",
                "request_id": request_id,
                "question": question,
                "schema": schema,
            }
        )
        return await answer

    async def steers(self) -> AsyncIterator[str]:
        """What callers say into the running turn (needs `steer = true`)."""
        while True:
            yield await self._steers.get()

    async def call(
        self, operation: str, args: Mapping[str, Any] | None = None, /, **more: Any
    ) -> dict[str, Any]:
        """One operation of the platform, as this agent; see `call` above for what is raised."""
        server, token = os.environ["AGENTWORKS_SERVER"], os.environ["AGENTWORKS_TOKEN"]
        given = {**(args or {}), **more}
        return await asyncio.to_thread(call, server, token, self._routes, operation, given)

    def _hear(self, said: Mapping[str, Any]) -> None:
        """A line from the platform: an answer or a steer."""
        if said.get("type") == "steer":
            self._steers.put_nowait(said["text"])
        elif said.get("type") == "answer":
            waiting = self._questions.pop(said["request_id"], None)
            if waiting is not None and not waiting.done():
                waiting.set_result(said["answer"])


def _path(name: str) -> Path | None:
    return Path(os.environ[name]) if name in os.environ else None


def load(path: str) -> ModuleType:
    """The agent's file as a module; its neighbours can be imported."""
    sys.path.insert(0, str(Path(path).resolve().parent))
    spec = importlib.util.spec_from_file_location("agent", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["agent"] = module
    spec.loader.exec_module(module)
    return module


async def perform(path: str, turn: Turn) -> dict[str, Any]:
    """Run the agent's `reply`; its final event."""
    reply = getattr(load(path), "reply", None)
    if not callable(reply):
        return {"type": "failed", "reason": f"{Path(path).name} has no `async def reply(turn)`"}
    answer = reply(turn)
    if inspect.isasyncgen(answer):
        last: Any = ""
        async for last in answer:
            if isinstance(last, str):
                await turn.progress(last)
        answer = last
    elif inspect.isawaitable(answer):
        answer = await answer
    if answer is None or isinstance(answer, str):
        return {"type": "final", "text": answer or ""}
    json.dumps(answer, allow_nan=False)  # say now, in the agent's own traceback, what is no JSON
    return {"type": "final", "text": json.dumps(answer, ensure_ascii=False), "result": answer}


def listen(source: Any, loop: asyncio.AbstractEventLoop, turn: Turn) -> None:
    """In a thread of its own: hear what the platform says, until it hangs up."""
    for line in source:
        loop.call_soon_threadsafe(turn._hear, json.loads(line))


async def converse(path: str, source: Any, say: Callable[[Mapping[str, Any]], None]) -> int:
    turn = Turn(json.loads(source.readline()), say)
    loop = asyncio.get_running_loop()
    threading.Thread(target=listen, args=(source, loop, turn), daemon=True).start()
    try:
        say(await perform(path, turn))
    except (Exception, SystemExit) as why:
        traceback.print_exc()
        say({"type": "failed", "reason": f"{type(why).__name__}: {why}"[:2000]})
        return 1
    return 0


def main() -> None:
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # the agent's prints are no events

    def say(event: Mapping[str, Any]) -> None:
        # ASCII, so that half a surrogate pair in the agent's text cannot break the line.
        target.write(json.dumps(event).encode() + b"\n")
        target.flush()

    code = asyncio.run(converse(sys.argv[1], source, say))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads the agent left must not keep the turn open


if __name__ == "__main__":
    main()
