"""A real server with Crews that run real programs, for tests that need a process to kill."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentworks import offline
from agentworks.identity import people
from agentworks.runners import folders, processes
from agentworks.server import AGENTS
from agentworks.store.once import transaction
from agentworks.tables import agents
from tests.live import Live, Wire
from tests.turning import add_crew

SOON_SECONDS = 30  # a busy machine is slow to start programs


class LiveTurns(Live):
    """`Live`, with agents written straight into its store."""

    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__(folder, *options)
        self.clients: list[Client] = []

    def crew(self, name: str, runtime: dict[str, Any], **more: Any) -> Path:
        """A new agent of the owner's account; its folder."""

        def add(tx: Any) -> str:
            account_id = people.owners_account(tx).account_id
            return add_crew(tx, name, runtime, account_id=account_id, **more)

        self.connection("setup")  # makes the store and the owner's account where they are missing
        return self.agents / transaction(self.folder / offline.DATABASE, add)

    def remove(self, folder: Path) -> None:
        transaction(self.folder / offline.DATABASE, lambda tx: agents.remove(tx, folder.name))

    @property
    def agents(self) -> Path:
        return (self.folder / AGENTS).resolve()

    def programs(self) -> set[int]:
        """Every living program that a turn of this server has started, by pid."""
        return processes.marked(folders.every_marker(self.agents))

    def client(self, label: str = "tester") -> Client:
        """A new connection, which is closed when the server is gone."""
        self.clients.append(Client(self.port, self.connection(label)))
        return self.clients[-1]

    def _gone(self) -> None:
        super()._gone()
        while self.clients:
            self.clients.pop().close()

    def value(self, sql: str, **values: Any) -> Any:
        """The first column of the only row, from the file."""
        return transaction(self.folder / offline.DATABASE, lambda tx: tx.value(sql, **values))


class Client(Wire):
    """A program outside, over HTTP."""

    def call(self, target: str, function: str, **more: Any) -> dict[str, Any]:
        return self.done("POST", "/api/calls", target=target, function=function, **more)

    def question(self, target: str, message: str, **more: Any) -> dict[str, Any]:
        return self.done("POST", "/api/asks", target=target, message=message, **more)

    def reply(self, call_id: str, request_id: str, answer: Any) -> dict[str, Any]:
        path = f"/api/calls/{call_id}/replies"
        return self.done("POST", path, request_id=request_id, answer=answer)

    def get(self, call_id: str) -> dict[str, Any]:
        return self.done("GET", f"/api/calls/{call_id}")

    def done(self, method: str, path: str, **args: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.ask(method, path, args or None).json
        return answer

    def until(self, call_id: str, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The call as soon as something is true of it."""
        ends = time.monotonic() + SOON_SECONDS
        path = f"/api/calls/{call_id}"
        call = self.get(call_id)
        while not true(call):
            assert time.monotonic() < ends, call
            call = self.done("GET", f"{path}?wait_seconds=5&after={call['revision']}")
        return call

    def settled(self, call_id: str) -> dict[str, Any]:
        return self.until(call_id, lambda call: bool(call["status"] != "working"))
