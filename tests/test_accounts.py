"""Accounts and connections: who may act, for whom, how far and for how long."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.accounts import (
    ACCOUNTS,
    APPROVE_DEVICE,
    CHANGE_CONNECTION,
    CONNECTIONS,
    CONTEXT,
    DENY_DEVICE,
    DISABLE,
    FIND_DEVICE,
    INVITE,
    REVOKE_CONNECTION,
)
from agentworks.identity import devices, people
from agentworks.identity.devices import Codes
from agentworks.rules import limits
from handlers.accounts import context
from tests.conftest import DAY, MINUTE, World

CODE = "WDJB-MJHT"
APPROVAL = {"user_code": CODE, "label": "laptop", "scopes": ["run", "read"]}
WRONG_CODES = [FIND_DEVICE, APPROVE_DEVICE, DENY_DEVICE]


@pytest.fixture
def waiting(world: World) -> World:
    """A program waits behind CODE."""
    codes = Codes("awd_secret", CODE.replace("-", ""))
    asked = world.transact(
        lambda tx: devices.ask(tx, codes, "new laptop", "read run author", "192.0.2.1")
    )
    assert asked
    return world


def wrong_codes(world: World, operation: Any, times: int) -> list[str]:
    args = {"label": "x", "scopes": ["read"]} if operation is APPROVE_DEVICE else {}
    return [
        world.answer(operation, "person:ada", user_code="BBBB-BBBB", **args).code
        for _ in range(times)
    ]


# ── who you are ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "who", ["worker", "watcher", "person:ada"], ids=["worker", "watcher", "person"]
)
def test_context_says_who_you_are(
    world: World, golden: Any, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "__version__", "1.2.3")
    assert golden == world.call(CONTEXT, who)


def test_a_connection_without_a_name_learns_how_to_take_one(world: World) -> None:
    answer = world.answer(CONTEXT, "laptop")
    assert (answer.agents, "messages.register" in answer.next) == ([], True)


# ── connections ──────────────────────────────────────────────────────────────────────────────


def test_connections_are_listed_newest_first_ended_ones_too(world: World, golden: Any) -> None:
    world.answer(REVOKE_CONNECTION, "person:ada", connection_id="conn_laptop")
    world.answer(CHANGE_CONNECTION, "person:ada", connection_id="conn_worker", expires_days=1)
    world.now += 2 * DAY
    assert golden == world.call(CONNECTIONS, "person:ada")


def test_a_connection_can_be_changed(world: World, golden: Any) -> None:
    assert golden == world.call(
        CHANGE_CONNECTION,
        "person:ada",
        connection_id="conn_watcher",
        label="dashboard in the hall",
        scopes=["author", "read"],
        targets=["wf_1", "relay_2"],
        expires_days=30,
    )


def test_what_a_change_leaves_out_stays(world: World) -> None:
    changed = {"connection_id": "conn_watcher", "targets": ["wf_1"], "expires_days": 3}
    before = world.answer(CHANGE_CONNECTION, "person:ada", **changed).connection
    after = world.answer(CHANGE_CONNECTION, "person:ada", connection_id="conn_watcher").connection
    assert after == before


def test_empty_targets_and_no_days_take_bounds_and_end_away(world: World) -> None:
    ask = {"connection_id": "conn_watcher"}
    world.answer(CHANGE_CONNECTION, "person:ada", **ask, targets=["wf_1"], expires_days=3)
    answer = world.answer(CHANGE_CONNECTION, "person:ada", **ask, targets=[], expires_days=0)
    assert (answer.connection.targets, answer.connection.expires_at) == ([], None)


def test_a_change_holds_from_the_next_call_on(world: World) -> None:
    world.answer(CHANGE_CONNECTION, "person:ada", connection_id="conn_worker", expires_days=1)
    assert world.call(CONTEXT, "worker")["answer"]["status"] == "context"
    world.now += DAY
    assert world.answer(CONTEXT, "worker").code == "not_signed_in"


def test_every_problem_of_a_change_is_told(world: World) -> None:
    answer = world.answer(
        CHANGE_CONNECTION,
        "person:ada",
        connection_id="conn_watcher",
        label="look\x1b[31m here",
        targets=["wf 1", "wf_2", "\u202e"],
    )
    assert (answer.code, len(answer.problems)) == ("invalid_input", 3)


@pytest.mark.parametrize("connection_id", ["conn_nobody", "conn_bob"])
def test_a_connection_of_nobody_or_of_another_account_cannot_be_changed(
    world: World, golden: Any, connection_id: str
) -> None:
    assert golden == world.call(CHANGE_CONNECTION, "person:ada", connection_id=connection_id)


def test_a_revoked_connection_cannot_be_changed(world: World, golden: Any) -> None:
    world.answer(REVOKE_CONNECTION, "person:ada", connection_id="conn_worker")
    ask = {"connection_id": "conn_worker", "expires_days": 5}
    assert golden == world.call(CHANGE_CONNECTION, "person:ada", **ask)


def test_a_connection_that_has_run_out_cannot_be_changed(world: World) -> None:
    ask = {"connection_id": "conn_worker", "expires_days": 1}
    world.answer(CHANGE_CONNECTION, "person:ada", **ask)
    world.now += DAY
    assert world.answer(CHANGE_CONNECTION, "person:ada", **ask).code == "not_pending"


def test_a_revoked_connection_stops_at_once(world: World, golden: Any) -> None:
    assert golden == world.call(REVOKE_CONNECTION, "person:ada", connection_id="conn_worker")
    assert world.answer(CONTEXT, "worker").code == "not_signed_in"
    assert world.answer(CONTEXT, "reviewer").account_name == "ada"


def test_revoking_again_changes_nothing(world: World) -> None:
    ask = {"connection_id": "conn_worker"}
    first = world.answer(REVOKE_CONNECTION, "person:ada", **ask)
    listed = world.answer(CONNECTIONS, "person:ada")
    world.now += MINUTE
    assert world.answer(REVOKE_CONNECTION, "person:ada", **ask) == first
    assert world.answer(CONNECTIONS, "person:ada") == listed


@pytest.mark.parametrize("connection_id", ["conn_nobody", "conn_bob"])
def test_a_connection_of_nobody_or_of_another_account_cannot_be_revoked(
    world: World, golden: Any, connection_id: str
) -> None:
    assert golden == world.call(REVOKE_CONNECTION, "person:ada", connection_id=connection_id)
    assert world.answer(CONTEXT, "bob").account_name == "bob"


# ── programs that wait ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "typed", [CODE, "wdjbmjht", " wdjb mjht "], ids=["shown", "plain", "spaced"]
)
def test_a_code_is_found_however_it_is_typed(waiting: World, golden: Any, typed: str) -> None:
    assert golden == waiting.call(FIND_DEVICE, "person:ada", user_code=typed)


def test_a_program_can_be_let_in(waiting: World, golden: Any) -> None:
    assert golden == waiting.call(APPROVE_DEVICE, "person:ada", **APPROVAL, targets=["wf_1"])
    newest = waiting.answer(CONNECTIONS, "person:ada").connections[0]
    assert (newest.label, newest.scopes, newest.targets) == ("laptop", ["read", "run"], ["wf_1"])


def test_a_program_can_be_turned_away(waiting: World, golden: Any) -> None:
    assert golden == waiting.call(DENY_DEVICE, "person:ada", user_code=CODE)


@pytest.mark.parametrize("operation", WRONG_CODES, ids=lambda each: each.name.split(".")[1])
def test_a_wrong_code_finds_nobody(waiting: World, golden: Any, operation: Any) -> None:
    args = APPROVAL if operation is APPROVE_DEVICE else {}
    assert golden == waiting.call(operation, "person:ada", **{**args, "user_code": "BBBB-BBBB"})


@pytest.mark.parametrize("operation", WRONG_CODES, ids=lambda each: each.name.split(".")[1])
def test_wrong_codes_are_counted(waiting: World, golden: Any, operation: Any) -> None:
    found = wrong_codes(waiting, operation, limits.CODE_FAILURES_MAX)
    assert found == ["not_found"] * limits.CODE_FAILURES_MAX
    args = APPROVAL if operation is APPROVE_DEVICE else {"user_code": CODE}
    assert golden == waiting.call(operation, "person:ada", **args)


def test_wrong_codes_count_for_their_account_alone_and_not_for_ever(waiting: World) -> None:
    assert (
        wrong_codes(waiting, DENY_DEVICE, limits.CODE_FAILURES_MAX + 5)[-5:] == ["rate_limited"] * 5
    )
    assert waiting.answer(FIND_DEVICE, "person:bob", user_code=CODE).label == "new laptop"
    waiting.now += limits.ATTEMPTS_WINDOW_SECONDS * 1000  # what was refused did not count
    assert wrong_codes(waiting, DENY_DEVICE, 1) == ["not_found"]


def test_a_code_runs_out(waiting: World) -> None:
    waiting.now += limits.DEVICE_CODE_SECONDS * 1000
    assert waiting.answer(APPROVE_DEVICE, "person:ada", **APPROVAL).code == "not_found"
    assert waiting.answer(FIND_DEVICE, "person:ada", user_code=CODE).code == "not_found"


@pytest.mark.parametrize("answered", [APPROVE_DEVICE, DENY_DEVICE], ids=["approved", "denied"])
def test_a_program_is_answered_once(waiting: World, golden: Any, answered: Any) -> None:
    waiting.answer(
        answered, "person:ada", **(APPROVAL if answered is APPROVE_DEVICE else {"user_code": CODE})
    )
    assert golden == [
        waiting.call(APPROVE_DEVICE, "person:ada", **APPROVAL),
        waiting.call(DENY_DEVICE, "person:ada", user_code=CODE),
    ]
    assert waiting.answer(FIND_DEVICE, "person:ada", user_code=CODE).code == "not_found"


def test_every_problem_of_an_approval_is_told(waiting: World) -> None:
    wrong = {"label": "\u202egpj", "targets": ["a b"]}
    answer = waiting.answer(APPROVE_DEVICE, "person:ada", **{**APPROVAL, **wrong})
    assert (answer.code, len(answer.problems)) == ("invalid_input", 2)


def test_an_account_holds_so_many_live_connections(
    waiting: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CONNECTIONS_PER_ACCOUNT_MAX", 4)
    assert waiting.answer(APPROVE_DEVICE, "person:ada", **APPROVAL).code == "not_permitted"
    waiting.answer(REVOKE_CONNECTION, "person:ada", connection_id="conn_laptop")
    assert waiting.answer(APPROVE_DEVICE, "person:ada", **APPROVAL).label == "laptop"


# ── accounts ─────────────────────────────────────────────────────────────────────────────────


def test_the_owner_invites(world: World, golden: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "fresh", lambda prefix: f"{prefix}_shown-once")
    assert golden == world.call(INVITE, "person:ada", account_name="Cy")


def test_a_name_that_is_taken_cannot_be_invited(world: World, golden: Any) -> None:
    assert golden == world.call(INVITE, "person:ada", account_name="BOB")


@pytest.mark.parametrize("name", ["cy\n", "-cy", "c y", "", "c" * 65, "çy"])
def test_a_name_that_is_none_cannot_be_invited(world: World, name: str) -> None:
    assert world.answer(INVITE, "person:ada", account_name=name).code == "invalid_input"


def test_the_owner_lists_accounts(world: World, golden: Any) -> None:
    world.answer(DISABLE, "person:ada", account_id="acc_bob")
    assert golden == world.call(ACCOUNTS, "person:ada")


def test_an_account_can_be_disabled(world: World, golden: Any) -> None:
    assert golden == world.call(DISABLE, "person:ada", account_id="acc_bob")
    assert world.answer(CONTEXT, "bob").code == "not_signed_in"
    assert world.answer(CONTEXT, "person:bob").code == "not_signed_in"


def test_disabling_again_changes_nothing(world: World) -> None:
    first = world.answer(DISABLE, "person:ada", account_id="acc_bob")
    listed = world.answer(ACCOUNTS, "person:ada")
    world.now += MINUTE
    assert world.answer(DISABLE, "person:ada", account_id="acc_bob") == first
    assert world.answer(ACCOUNTS, "person:ada") == listed


def test_an_unknown_account_cannot_be_disabled(world: World, golden: Any) -> None:
    assert golden == world.call(DISABLE, "person:ada", account_id="acc_nobody")


def test_the_owner_cannot_be_disabled(world: World, golden: Any) -> None:
    assert golden == world.call(DISABLE, "person:ada", account_id="acc_ada")


def test_only_the_owner_sees_invites_and_disables_accounts(world: World, golden: Any) -> None:
    assert golden == [
        world.call(ACCOUNTS, "person:bob"),
        world.call(INVITE, "person:bob", account_name="cy"),
        world.call(DISABLE, "person:bob", account_id="acc_nobody"),
    ]
