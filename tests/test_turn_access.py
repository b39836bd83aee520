"""What a turn was launched with is judged again before it begins, and while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentworks.store import Transaction
from tests.conftest import World
from tests.programs import until
from tests.turning import Turning, scripted, status


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


def sql(text: str) -> Callable[[Transaction], None]:
    return lambda tx: tx.run(text)


LOSSES: dict[str, tuple[Callable[[Transaction], None], str]] = {
    "account": (
        sql("UPDATE accounts SET disabled_at = 1 WHERE account_id = 'acc_bob'"),
        "the account it was launched with is disabled",
    ),
    "connection": (
        sql("UPDATE connections SET revoked_at = 1 WHERE connection_id = 'conn_bob'"),
        "the connection it was launched with was revoked or has run out",
    ),
    "expiry": (
        sql("UPDATE connections SET expires_at = 1 WHERE connection_id = 'conn_bob'"),
        "the connection it was launched with was revoked or has run out",
    ),
    "bounds": (
        sql("UPDATE connections SET targets = 'other' WHERE connection_id = 'conn_bob'"),
        "the connection it was launched with may no longer reach this agent",
    ),
    "scope": (
        sql("UPDATE connections SET scopes = 'read' WHERE connection_id = 'conn_bob'"),
        "the connection it was launched with may no longer start work",
    ),
    "role": (
        sql("UPDATE members SET role = 'reader'"),
        "the account bob may no longer run this agent",
    ),
    "membership": (sql("DELETE FROM members"), "the account bob may no longer run this agent"),
    "runtime": (
        sql("UPDATE agents SET runtime = NULL"),
        "no runtime is configured for its agent",
    ),
    "messaging": (
        sql("UPDATE agents SET messaging = 0"),
        "its agent no longer takes messages from programs",
    ),
}


@pytest.mark.parametrize("lost", LOSSES)
def test_access_is_judged_again_before_a_turn_begins(turning: Turning, lost: str) -> None:
    turning.crew("Helper", scripted({"say": "Yes."}), runners=["acc_bob"])
    world = turning.world
    asked = world.run(turning.ask("Helper", "Ready?", "bob"))
    world.transact(LOSSES[lost][0])

    async def scene() -> None:
        await until(lambda: turning.value("SELECT state FROM calls") != "working")

    turning.play(scene)
    assert asked.call_id == turning.value("SELECT call_id FROM calls")
    assert turning.value("SELECT state FROM turns") == "cancelled"
    assert turning.value("SELECT reason FROM turns") == LOSSES[lost][1]
    assert turning.value("SELECT state || ' ' || reason FROM calls") == f"failed {LOSSES[lost][1]}"


def test_the_messaging_switch_does_not_stop_a_person(turning: Turning) -> None:
    turning.crew("Helper", scripted({"say": "Yes."}))
    world = turning.world
    asked = world.run(turning.ask("Helper", "Ready?", "person:ada"))
    world.transact(LOSSES["messaging"][0])

    async def scene() -> None:
        assert status(await turning.settled(asked.call_id, "person:ada")) == "answered"

    turning.play(scene)
