"""A World with Crews to ask and call, and what their turns would do to the calls they work on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentworks import settling
from agentworks.contracts.agents import ASK
from agentworks.contracts.calls import GET, REPLY
from agentworks.contracts.functions import CALL, Busy
from agentworks.contracts.operation import Caller, CallerKind, Operation, Scope
from agentworks.contracts.refusal import Refused
from agentworks.dispatch import Dispatch
from agentworks.identity.callers import Who
from agentworks.runners import folders
from agentworks.runners.errands import errands
from agentworks.settling import Ending
from agentworks.store import Transaction
from agentworks.tables import calls, executions, questions, turns
from handlers import HANDLERS
from tests.conftest import World

SOON_SECONDS = 5  # far less than the 25 a forgotten waiter sleeps


class Office(World):
    """The story `calls`. `turn:<name>` in place of a connection is an agent in its turn."""

    def __init__(self, folder: Path) -> None:
        self.turns: dict[str, Caller] = {}
        self.agents = folder / "agents"
        super().__init__(folder, "calls")
        self.dispatch = Dispatch(self.store, self.bells, HANDLERS, errands=errands(self.agents))

    def who(self, name: str) -> Who:
        acting = self.turns.get(name)
        return super().who(name) if acting is None else lambda db: acting

    def acts(self, name: str, agent_id: str, call_id: str = "", **other: Any) -> str:
        """A name for an agent that acts in a turn, on a call or in a conversation of its own."""
        known: dict[str, Any] = {
            "kind": CallerKind.CREW_BUILDER,
            "account_id": "acc_ada",
            "account_name": "ada",
            "scopes": frozenset({Scope.READ, Scope.RUN}),
            "label": name.title(),
            "agent_id": agent_id,
            "chat_id": f"chat_of_{name}",
            "turn_id": f"turn_of_{name}",
            "call_id": call_id,
        }
        if call_id:
            known["chat_id"] = self.value("SELECT chat_id FROM calls WHERE call_id = ?", call_id)
        self.turns[f"turn:{name}"] = Caller(**known | other)
        return f"turn:{name}"

    # ── asking and calling ───────────────────────────────────────────────────────────────────

    def called(self, name: str = "laptop", function: str = "settings", /, **args: Any) -> str:
        """The id of a call that is accepted."""
        answer = self.answer(CALL, name, **{"target": "Pipeline", "function": function} | args)
        assert not isinstance(answer, Refused | Busy), answer
        return str(answer.call_id)

    def asked(self, name: str = "laptop", message: str = "What is up?", /, **args: Any) -> Any:
        """The answer to a question that is accepted."""
        answer = self.answer(ASK, name, **{"target": "Scout", "message": message} | args)
        assert not isinstance(answer, Refused), answer
        return answer

    def got(self, call_id: str, name: str = "laptop", /, **args: Any) -> Any:
        return self.answer(GET, name, call_id=call_id, **args)

    def replied(self, call_id: str, request_id: str, answer: Any, name: str = "laptop") -> Any:
        return self.answer(REPLY, name, call_id=call_id, request_id=request_id, answer=answer)

    # ── what a turn does ─────────────────────────────────────────────────────────────────────

    def begin(self, call_id: str) -> None:
        self.transact(begins(call_id))

    def end(self, call_id: str, state: Any = "answered", **outcome: Any) -> None:
        self.transact(ends(call_id, state, **outcome))

    def time_out(self, call_id: str) -> None:
        self.transact(times_out(call_id))

    def progress(self, call_id: str, *lines: str, activity: str | None = None) -> None:
        self.transact(progresses(call_id, *lines, activity=activity))

    def question(self, call_id: str, question: str = "Publish?", /, **more: Any) -> str:
        """The request_id of a question that the running turn of a call asks."""
        return self.transact(asks(call_id, question, **more))

    def writes(self, call_id: str, file: str, content: bytes) -> Path:
        """A file in the output folder of a call."""
        agent_id = str(self.value("SELECT agent_id FROM calls WHERE call_id = ?", call_id))
        path = folders.place(self.agents, agent_id, call_id).out / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    # ── rows ─────────────────────────────────────────────────────────────────────────────────

    def value(self, sql: str, *values: Any) -> Any:
        """The first column of the first row, as the store has it."""
        found = self.rows(sql, *values)
        return found[0][0] if found else None

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.run(self.store.transact(lambda tx: tx._db.execute(sql, values).fetchall()))

    def change(self, sql: str, *values: Any) -> None:
        self.rows(sql, *values)


@pytest.fixture(name="office")
def an_office(tmp_path: Path) -> Iterator[Office]:
    """Ada's Crews and Bob's; see the story."""
    made = Office(tmp_path)
    yield made
    made.close()


# ── what a turn does, as work for a transaction ──────────────────────────────────────────────

Work = Callable[[Transaction], None]


def turn_of(tx: Transaction, call_id: str, state: str) -> str:
    found = tx._db.execute(
        "SELECT turn_id FROM turns WHERE call_id = ? AND state = ? ORDER BY place",
        (call_id, state),
    ).fetchall()
    return str(found[0][0]) if found else ""


def begins(call_id: str) -> Work:
    """The first queued turn of a call begins."""

    def work(tx: Transaction) -> None:
        call = executions.called(tx, call_id)
        assert call is not None
        assert turns.begin(tx, turn_of(tx, call_id, "queued"), "acc_ada", None)
        executions.start(tx, call_id, call.kind == "function")
        tx.ring(calls.bell(call_id))

    return work


def ends(call_id: str, state: Any = "answered", **outcome: Any) -> Work:
    """The running turn of a call ends so; one that has not begun begins first."""

    def work(tx: Transaction) -> None:
        if not turn_of(tx, call_id, "running"):
            begins(call_id)(tx)
        turn_id = turn_of(tx, call_id, "running")
        assert settling.settle(tx, turn_id, Ending(state=state, **outcome))

    return work


def times_out(call_id: str) -> Work:
    return lambda tx: settling.time_out(tx, call_id, "no sign of life for 60 min")


def progresses(call_id: str, *lines: str, activity: str | None = None) -> Work:
    def work(tx: Transaction) -> None:
        last = executions.note(tx, call_id, len(lines), activity)
        assert last is not None
        for number, line in enumerate(lines, last - len(lines) + 1):
            executions.add_line(tx, call_id, number, line)
        tx.ring(calls.bell(call_id))

    return work


def asks(
    call_id: str,
    question: str = "Publish?",
    kind: str = "feedback",
    schema: Any = None,
    expires_at: int | None = None,
) -> Callable[[Transaction], str]:
    """The running turn of a call asks; gives the request_id."""

    def work(tx: Transaction) -> str:
        turn_id = turn_of(tx, call_id, "running")
        described = None if schema is None else json.dumps(schema)
        asked = questions.ask(tx, turn_id, call_id, kind, question, described, expires_at)
        calls.changed(tx, call_id)
        return asked

    return work


# ── patience ─────────────────────────────────────────────────────────────────────────────────


def waiting(
    office: Office, operation: Operation[Any, Any], name: str, /, **args: Any
) -> asyncio.Task[Any]:
    """A caller who waits, already asleep or answered when others act."""
    patient = {"wait_seconds": 25} | args
    return asyncio.ensure_future(office.dispatch(operation, office.who(name), patient))


async def asleep(office: Office, count: int = 1) -> None:
    """Until that many callers wait."""
    async with asyncio.timeout(SOON_SECONDS):
        while office.bells.waiters < count:
            await asyncio.sleep(0.001)


async def soon(answer: asyncio.Task[Any]) -> Any:
    """The answer, which must not be long in coming."""
    async with asyncio.timeout(SOON_SECONDS):
        return await answer


def still_waits(answer: asyncio.Task[Any]) -> bool:
    return not answer.done()
