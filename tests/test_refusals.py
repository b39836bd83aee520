"""What every operation refuses alike: each one, each reason, as an exchange."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agentworks.contracts import PROTOCOL
from agentworks.contracts.messages import SEND
from agentworks.contracts.operation import OUTSIDE, CallerKind, Operation, Scope
from agentworks.contracts.refusal import RefusalCode
from agentworks.rules import refusals
from agentworks.store import Full, Held
from handlers import HANDLERS
from tests import inside
from tests.conftest import World

EVERY = pytest.mark.parametrize("operation", PROTOCOL, ids=lambda each: each.name)
WRITING = pytest.mark.parametrize(
    "operation", [each for each in PROTOCOL if not each.reads], ids=lambda each: each.name
)
#: What a correct request of each type would hold, by field name.
SAMPLES: dict[str, Any] = {
    "message": "Hi",
    "messages": [{"message": "Hi", "target": "agent:reviewer"}],
    "agent_name": "worker",
    "target": "agent:reviewer",
    "connection_id": "conn_worker",
    "user_code": "WDJB-MJHT",
    "label": "laptop",
    "scopes": ["read"],
    "account_name": "carol",
    "account_id": "acc_bob",
    "function": "review_pr",
    "call_id": "call_1",
    "request_id": "req_1",
    "answer": "yes",
    "definition": {"name": "Helpdesk"},
    "on": True,
    "runtime": None,
    "path": "outputs/x",
    "content": "x",
    "text": "x",
    "line": "half way",
    "question": "Sure?",
    "reason": "look again",
    "in_minutes": 5,
    "wakeup_id": "wake_1",
}


def sample(operation: Operation[Any, Any]) -> dict[str, Any]:
    """Arguments that decode, for an operation whose answer does not matter."""
    needed = [each for each in msgspec.structs.fields(operation.request) if each.required]
    return {each.encode_name: SAMPLES[each.encode_name] for each in needed}


def who_may(operation: Operation[Any, Any]) -> str:
    if operation.offered_to.isdisjoint(OUTSIDE):
        return "turn:call"
    programs = CallerKind.CONNECTION in operation.offered_to
    return "worker" if programs and operation.scope is not Scope.AUTHOR else "person:ada"


@pytest.fixture(autouse=True)
def an_agent_is_in_its_turn(world: World) -> None:
    inside.begin(world)


def test_every_operation_has_exactly_one_handler() -> None:
    assert [each.operation.name for each in HANDLERS] == [each.name for each in PROTOCOL]


def test_only_operations_that_submit_name_what_they_began() -> None:
    for handler in HANDLERS:
        assert (handler.subject is not None) == handler.operation.submits, handler.operation.name


@EVERY
def test_nobody_is_served_without_a_credential(
    world: World, golden: Any, operation: Operation[Any, Any]
) -> None:
    assert golden == world.call(operation, "nobody", **sample(operation))


@EVERY
def test_unknown_inputs_are_refused(
    world: World, golden: Any, operation: Operation[Any, Any]
) -> None:
    assert golden == world.call(operation, who_may(operation), **sample(operation), colour="red")


@EVERY
def test_wrong_arguments_are_told_only_to_those_who_may_ask(
    world: World, operation: Operation[Any, Any]
) -> None:
    assert world.answer(operation, "nobody", colour="red").code == RefusalCode.NOT_SIGNED_IN


@pytest.mark.parametrize(
    "operation",
    [each for each in PROTOCOL if RefusalCode.NOT_PERMITTED in each.every_refusal],
    ids=lambda each: each.name,
)
def test_an_operation_is_refused_to_those_it_is_not_offered_to(
    world: World, golden: Any, operation: Operation[Any, Any]
) -> None:
    scopes = "read" if operation.scope is Scope.AUTHOR else "author"
    world.transact(
        lambda tx: tx.run(
            "UPDATE connections SET scopes = :scopes WHERE connection_id = 'conn_laptop'",
            scopes=scopes,
        )
    )
    assert golden == world.call(operation, "laptop", **sample(operation))


@WRITING
def test_a_full_disk_stores_nothing_and_says_so(
    world: World, golden: Any, operation: Operation[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.store, "submit", failing(Full()))
    assert golden == world.call(operation, who_may(operation), **sample(operation))


@EVERY
def test_a_server_with_too_much_waiting_says_so(
    world: World, golden: Any, operation: Operation[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.store, "submit", failing(Held()))
    monkeypatch.setattr(world.store, "read", failing(Held()))
    assert golden == world.call(operation, who_may(operation), **sample(operation))


def failing(raised: Exception) -> Any:
    def attempt(work: Any) -> Any:
        raise raised

    return attempt


@pytest.mark.parametrize(
    "operation",
    [each for each in PROTOCOL if RefusalCode.TOO_LARGE in each.every_refusal],
    ids=lambda each: each.name,
)
def test_a_body_over_the_limit_is_refused(
    world: World, golden: Any, operation: Operation[Any, Any]
) -> None:
    refusal = refusals.too_large("the body", 16 * 1024 * 1024)
    answer = world.run(world.dispatch(operation, world.who(who_may(operation)), refusal))
    assert golden == {
        "call": {
            "operation": operation.name,
            "as": who_may(operation),
            "with": "17 MiB of JSON",
        },
        "answer": msgspec.to_builtins(answer),
    }


def test_a_fault_is_told_by_its_id_alone(
    world: World, golden: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.store, "submit", failing(AssertionError("secret detail")))
    exchange = world.call(SEND, "worker", message="Hi", target="agent:reviewer")
    assert exchange["answer"].pop("fault_id").startswith("fault_")
    assert golden == exchange
