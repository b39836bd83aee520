"""Mail between the agents of a World, for tests about messages."""

from __future__ import annotations

from typing import Any

from agentworks.contracts.messages import SEND
from tests.conftest import HOUR, MINUTE, World

REVIEWER = "agent:reviewer"


def send(world: World, name: str = "worker", /, **args: Any) -> Any:
    return world.answer(SEND, name, **args)


def opened(world: World, name: str = "laptop", **args: Any) -> str:
    """A new conversation's inbox_id."""
    inbox_id = send(world, name, **{"target": REVIEWER, "message": "Ready?"} | args).inbox_id
    assert isinstance(inbox_id, str)
    return inbox_id


def texts(page: Any) -> list[str]:
    return [each.message for each in page.messages]


def burst(world: World, count: int) -> None:
    """`count` messages to the reviewer, 25 to a conversation."""
    inbox_id = ""
    for number in range(count):
        if number % 25 == 0:
            inbox_id = opened(world, message=f"message {number}")
        else:
            send(world, "laptop", inbox_id=inbox_id, message=f"message {number}")


def fill(world: World, inbox_id: str) -> None:
    """Bring a conversation to 1,000 messages, 40 in each hour."""
    for number in range(999):
        if number % 40 == 39:
            world.now += HOUR + MINUTE
        assert send(world, "laptop", inbox_id=inbox_id, message=f"m{number}").receipt == "stored"
    world.now += 2 * HOUR
