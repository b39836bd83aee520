"""Named agents: an account's addresses, and which connections may use each."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.messages import LIST_AGENTS, READ, REGISTER, SEND, UNREGISTER
from agentworks.rules import limits
from tests.conftest import World


def test_registering_allows_the_connection_that_registers(world: World, golden: Any) -> None:
    assert golden == world.call(REGISTER, "laptop", agent_name="Muse.2")


def test_registering_again_changes_nothing(world: World, golden: Any) -> None:
    world.call(REGISTER, "worker", agent_name="worker", allowed_connection_ids=["conn_laptop"])
    assert golden == world.call(REGISTER, "worker", agent_name="WORKER")


def test_others_are_allowed_by_name_of_their_connection(world: World) -> None:
    world.answer(REGISTER, "worker", agent_name="worker", allowed_connection_ids=["conn_laptop"])
    assert world.answer(READ, "laptop", agent_name="worker").messages == []
    assert world.answer(READ, "worker", agent_name="worker").messages == []


def test_a_list_replaces_the_list_but_keeps_whoever_registers(world: World) -> None:
    world.answer(REGISTER, "worker", agent_name="worker", allowed_connection_ids=["conn_laptop"])
    again = world.answer(REGISTER, "worker", agent_name="worker", allowed_connection_ids=[])
    assert again.allowed_connection_ids == ["conn_worker"]
    assert world.answer(READ, "laptop", agent_name="worker").code == "not_permitted"


def test_only_live_connections_of_the_account_can_be_allowed(world: World, golden: Any) -> None:
    world.transact(
        lambda tx: tx.run(
            "UPDATE connections SET revoked_at = 1 WHERE connection_id = 'conn_laptop'"
        )
    )
    assert golden == world.call(
        REGISTER,
        "worker",
        agent_name="worker",
        allowed_connection_ids=["conn_bob", "conn_laptop", "conn_nobody", "conn_reviewer"],
    )


def test_a_name_of_another_connection_cannot_be_taken_over(world: World, golden: Any) -> None:
    assert golden == world.call(
        REGISTER, "laptop", agent_name="reviewer", allowed_connection_ids=["conn_laptop"]
    )


def test_a_person_manages_every_name_of_the_account(world: World, golden: Any) -> None:
    assert golden == world.call(
        REGISTER, "person:ada", agent_name="reviewer", allowed_connection_ids=["conn_laptop"]
    )


def test_two_accounts_may_use_the_same_name(world: World) -> None:
    theirs = world.answer(REGISTER, "bob", agent_name="worker")
    assert (theirs.created, theirs.registration_id) == (True, "reg_1")


@pytest.mark.parametrize(
    "name", ["", "-x", ".x", "a b", "é", "a" * 65, "a\n", "agent:x", "x\u0661"]
)
def test_a_malformed_name_is_refused(world: World, name: str) -> None:
    assert world.answer(REGISTER, "laptop", agent_name=name).code == "invalid_input"


def test_the_longest_name_is_accepted(world: World) -> None:
    assert world.answer(REGISTER, "laptop", agent_name="a" * 64).created


def test_the_directory_lists_the_account_s_names(world: World, golden: Any) -> None:
    assert golden == world.call(LIST_AGENTS, "worker")


def test_the_directory_of_another_account_is_its_own(world: World) -> None:
    assert world.answer(LIST_AGENTS, "bob").agents == []


def test_unregistering_removes_the_name(world: World, golden: Any) -> None:
    exchange = world.call(UNREGISTER, "worker", agent_name="Worker")
    assert world.answer(SEND, "laptop", target="agent:worker", message="Hi").code == "not_found"
    assert golden == exchange


def test_a_name_of_another_connection_cannot_be_unregistered(world: World, golden: Any) -> None:
    assert golden == world.call(UNREGISTER, "laptop", agent_name="worker")


def test_a_name_that_is_not_registered_cannot_be_unregistered(world: World, golden: Any) -> None:
    assert golden == world.call(UNREGISTER, "worker", agent_name="nobody")


def test_a_returning_name_is_someone_else(world: World, golden: Any) -> None:
    old = world.answer(SEND, "laptop", target="agent:reviewer", message="For the old one")
    world.answer(UNREGISTER, "reviewer", agent_name="reviewer")
    world.answer(REGISTER, "reviewer", agent_name="reviewer")
    assert world.answer(READ, "reviewer", agent_name="reviewer").messages == []
    assert golden == world.call(SEND, "laptop", inbox_id=old.inbox_id, message="Still you?")


def test_an_account_holds_at_most_100_names(world: World, golden: Any) -> None:
    for number in range(98):
        assert world.answer(REGISTER, "laptop", agent_name=f"n{number}").created
    assert golden == world.call(REGISTER, "laptop", agent_name="one-too-many")


def test_a_server_holds_at_most_2000_names(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REGISTRATIONS_PER_STORE_MAX", 2)
    assert world.answer(REGISTER, "bob", agent_name="x").code == "not_permitted"
