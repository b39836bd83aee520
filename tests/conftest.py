"""A small world with a stopped clock and counted ids, so every answer can be pinned."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from agentworks.bells import Bells
from agentworks.contracts.operation import Operation
from agentworks.dispatch import Dispatch
from agentworks.identity import callers
from agentworks.identity.callers import Who
from agentworks.identity.secrets import hashed
from agentworks.runners.errands import errands
from agentworks.store import Store, Transaction
from handlers import HANDLERS

# Whoever starts us in the background has Ctrl-C ignored, and so would every program started here.
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ("tests.golden", "tests.strict")

ROOT = Path(__file__).parent.parent
NOON = 1_700_000_000_000  # the stopped clock: 2023-11-14T22:13:20Z
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000  # milliseconds

Done = TypeVar("Done")


class World:
    """A server without sockets: real SQLite, real dispatch, a clock that moves when told.

    A story is SQL from fixtures/worlds. Connection `conn_x` of a story signs in as "x", with the
    token `token-x`; account `acc_x` has the browser session `session-x`.
    """

    def __init__(self, folder: Path, story: str) -> None:
        self.now = NOON
        self.counts: Counter[str] = Counter()
        self.runner = asyncio.Runner()
        self.bells = Bells()
        self.path = folder / "agentworks.db"
        self.store = self.open()
        sql = (ROOT / "fixtures" / "worlds" / f"{story}.sql").read_text("utf-8")
        self.transact(lambda tx: tx.run(sql))
        self.transact(_let_everyone_in)
        self.agents = folder / "agents"  # where they have their folders
        self.dispatch = Dispatch(self.store, self.bells, HANDLERS, errands=errands(self.agents))

    def open(self) -> Store:
        return Store(
            self.path,
            self.bells.ring,
            ring_all=self.bells.ring_all,
            now=lambda: self.now,
            new_id=self.new_id,
            new_uuid=self.new_uuid,
            synchronous="OFF",
        )

    def new_id(self, prefix: str) -> str:
        self.counts[prefix] += 1
        return f"{prefix}_{self.counts[prefix]}"

    def new_uuid(self) -> str:
        self.counts["uuid"] += 1
        return f"00000000-0000-4000-8000-{self.counts['uuid']:012}"

    def run(self, scene: Coroutine[Any, Any, Done]) -> Done:
        return self.runner.run(scene)

    def transact(self, work: Callable[[Transaction], Done]) -> Done:
        return self.run(self.store.transact(work))

    def who(self, name: str) -> Who:
        """`worker` is the connection conn_worker; `person:ada` is a browser session of acc_ada;
        `turn:own` is the agent in the turn whose token is awt_own (tests/inside.py)."""
        kind, _, account = name.partition(":")
        if kind == "person":
            return callers.session(f"session-{account}")
        if kind == "turn":
            return callers.bearer(f"Bearer awt_{account}")
        return callers.bearer(f"Bearer token-{name}")

    def answer(self, operation: Operation[Any, Any], name: str, /, **args: Any) -> Any:
        """The typed answer to one call."""
        return self.run(self.dispatch(operation, self.who(name), args))

    def call(self, operation: Operation[Any, Any], name: str, /, **args: Any) -> dict[str, Any]:
        """One exchange, as a reader of the golden file will see it."""
        answer = self.answer(operation, name, **args)
        return {
            "call": {"operation": operation.name, "as": name, "with": args},
            "answer": msgspec.to_builtins(answer),
        }

    def close(self) -> None:
        self.store.close()
        self.runner.close()


def _let_everyone_in(tx: Transaction) -> None:
    for (connection_id,) in tx._db.execute("SELECT connection_id FROM connections").fetchall():
        name = str(connection_id).removeprefix("conn_")
        tx.run(
            "INSERT INTO tokens (secret_hash, connection_id, kind) VALUES (:hash, :id, 'static')",
            hash=hashed(f"token-{name}"),
            id=connection_id,
        )
    for (account_id,) in tx._db.execute("SELECT account_id FROM accounts").fetchall():
        tx.run(
            "INSERT INTO sessions VALUES (:hash, :id, :now, :until)",
            hash=hashed("session-" + str(account_id).removeprefix("acc_")),
            id=account_id,
            now=tx.now,
            until=tx.now + 365 * DAY,
        )


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Ada's account with three connections and two named agents; see the story."""
    made = World(tmp_path, "two_agents")
    yield made
    made.close()
