"""Patient readers for the tests: they wait before a mailbox until somebody writes."""

from __future__ import annotations

import asyncio
from typing import Any

from agentworks.contracts.messages import READ, SEND
from agentworks.contracts.operation import Operation
from agentworks.contracts.refusal import Refused
from tests.conftest import World

REVIEWER = "agent:reviewer"
SOON_SECONDS = 5  # far less than the 25 a forgotten reader sleeps


async def ask(world: World, operation: Operation[Any, Any], name: str, /, **args: Any) -> Any:
    return await world.dispatch(operation, world.who(name), args)


async def send(world: World, message: str = "Ready?") -> Any:
    """A message to the reviewer, in a conversation of its own."""
    return await ask(world, SEND, "laptop", target=REVIEWER, message=message)


def waiting(world: World, after: int = 0, seconds: int = 25) -> asyncio.Task[Any]:
    """The reviewer, patient before its mailbox."""
    args = {"agent_name": "reviewer", "after": after, "wait_seconds": seconds}
    return asyncio.ensure_future(ask(world, READ, "reviewer", **args))


async def asleep(world: World, count: int = 1) -> None:
    """Until that many readers wait."""
    async with asyncio.timeout(SOON_SECONDS):
        while world.bells.waiters < count:
            await asyncio.sleep(0.001)


async def soon(answer: asyncio.Task[Any]) -> Any:
    """The answer, which must not be long in coming."""
    async with asyncio.timeout(SOON_SECONDS):
        return await answer


def texts(page: Any) -> list[str]:
    assert not isinstance(page, Refused), page
    return [each.message for each in page.messages]
