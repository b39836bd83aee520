"""Sixty-four clients that send, send in batches, register and read, until the server is gone."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from typing import Any, NamedTuple

from tests.crash.ledger import Body, Ledger
from tests.live import request

NAMES = [f"agent{number}" for number in range(8)]


class Account(NamedTuple):
    name: str
    token: str


class Client:
    """One connection, asking one thing after another; its ledger knows what was answered."""

    def __init__(self, number: int, account: Account, port: int, ledger: Ledger, run: int) -> None:
        self.account, self.port, self.ledger = account, port, ledger
        self.chance = random.Random(f"{run} {number}")
        self.prefix = f"{account.name}-{run}-{number}"
        self.count = 0
        self.own: list[str] = []  # names it has registered and not yet removed

    async def ask(self, method: str, path: str, body: Any = None) -> Body:
        self.writer.write(request(method, path, body, self.account.token))
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        answer: Body = json.loads(await self.reader.readexactly(size))
        status = int(head.split()[1])
        assert status in (200, 403), f"{method} {path} was answered {status}: {answer}"
        self.ledger.answered += 1
        return answer

    async def work(self) -> None:
        """Ask until the server hangs up."""
        kinds = (self.send, self.send_batch, self.register, self.read)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            self.reader, self.writer = await asyncio.open_connection(
                "127.0.0.1", self.port, limit=2**24
            )
            try:
                while True:
                    await self.chance.choices(kinds, (12, 3, 2, 3))[0]()
            finally:
                self.writer.close()

    def message(self) -> Body:
        """Between two named agents mostly; one in ten opens an inbox of its own."""
        self.count += 1
        submission_id = f"{self.prefix}-{self.count}"
        sender, receiver = self.chance.sample(NAMES, 2)
        call = {
            "target": f"agent:{receiver}",
            "agent_name": sender,
            "message": submission_id,
            "submission_id": submission_id,
        }
        if self.chance.random() < 0.1:
            del call["agent_name"]
        return call

    async def send(self) -> None:
        call = self.message()
        submission_id = self.ledger.tried(self.account.name, call)
        answer = await self.ask("POST", "/api/messages", call)
        self.ledger.acknowledged(submission_id, answer)

    async def send_batch(self) -> None:
        calls = [self.message() for _ in range(self.chance.randint(2, 20))]
        batch = [self.ledger.tried(self.account.name, call) for call in calls]
        self.ledger.batches.append(batch)
        answer = await self.ask("POST", "/api/messages/batch", {"messages": calls})
        self.ledger.batches.remove(batch)
        for submission_id, receipt in zip(batch, answer["receipts"], strict=True):
            self.ledger.acknowledged(submission_id, receipt)

    async def register(self) -> None:
        if self.own and self.chance.random() < 0.6:
            name, method, path, body = self.own.pop(), "DELETE", "/api/messages/agents/", None
            path += name
        else:
            self.count += 1
            name, method, path = f"{self.prefix}-{self.count}", "POST", "/api/messages/agents"
            body = {"agent_name": name}
        self.ledger.names[self.account.name, name] = "uncertain"
        answer = await self.ask(method, path, body)
        there = answer["status"] == "registered"  # refused: the account has its 100 names
        self.ledger.names[self.account.name, name] = "there" if there else "gone"
        if there:
            self.own.append(name)

    async def read(self) -> None:
        after = self.chance.randint(0, 500)
        path = f"/api/messages?agent_name={self.chance.choice(NAMES)}&after={after}&limit=20"
        page = await self.ask("GET", path)
        texts = [each["message"] for each in page["messages"]]
        assert len(set(texts)) == len(texts)


async def until_gone(clients: list[Client], seconds: float, kill: Any) -> None:
    """Let them all work, call `kill` after `seconds`, and wait until everyone has noticed."""
    working = [asyncio.ensure_future(client.work()) for client in clients]
    await asyncio.sleep(seconds)
    for each in working:
        if each.done():
            await each  # a client that fell over says why
    await asyncio.to_thread(kill)
    await asyncio.gather(*working)
