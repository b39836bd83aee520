"""Who may do what with whom: every operation on an agent, its target and the role it needs."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts import crews, functions
from agentworks.contracts.definitions import Role
from agentworks.contracts.operation import Caller, CallerKind, Operation, Scope
from agentworks.contracts.refusal import Refused
from agentworks.rules import access
from tests import office
from tests.conftest import World
from tests.office import REVIEWER, rows

a_world = office.a_world


# ── targets, as every operation takes them ───────────────────────────────────────────────────

ARGS: dict[str, dict[str, Any]] = {
    "crews.get": {},
    "crews.export": {},
    "crews.delete": {},
    "crews.set_member": {"account_name": "bob", "role": "reader"},
    "crews.set_messaging": {"on": False},
    "crews.set_runtime": {"runtime": None},
    "functions.define": {"function": "review"},
    "functions.delete": {"function": "review_pr"},
}
TARGETED: list[Operation[Any, Any]] = [
    crews.GET,
    crews.EXPORT,
    crews.DELETE,
    crews.SET_MEMBER,
    crews.SET_MESSAGING,
]
TARGETED += [crews.SET_RUNTIME, functions.DEFINE, functions.DELETE]
EACH = pytest.mark.parametrize("operation", TARGETED, ids=lambda each: each.name)


@EACH
def test_an_unknown_target_is_refused(
    world: World, golden: Any, operation: Operation[Any, Any]
) -> None:
    assert golden == world.call(operation, "bob", target="Valt", **ARGS[operation.name])


@EACH
def test_an_ambiguous_target_is_refused(
    world: World, golden: Any, operation: Operation[Any, Any]
) -> None:
    assert golden == world.call(operation, "ada", target="latency", **ARGS[operation.name])


@EACH
def test_what_is_not_theirs_does_not_exist_for_strangers(
    world: World, operation: Operation[Any, Any]
) -> None:
    before = rows(world)
    for target in ("PR Reviewer", REVIEWER):
        answer = world.answer(operation, "mallory", target=target, **ARGS[operation.name])
        assert answer.code == "not_found"
    assert rows(world) == before


NEEDS: dict[str, Role] = {
    "crews.get": "reader",
    "crews.export": "editor",
    "crews.delete": "owner",
    "crews.set_member": "owner",
    "crews.set_messaging": "owner",
    "crews.set_runtime": "editor",
    "functions.define": "editor",
    "functions.delete": "editor",
}


@EACH
@pytest.mark.parametrize("role", access.ROLES)
def test_each_operation_needs_its_role(
    world: World, operation: Operation[Any, Any], role: Role
) -> None:
    world.transact(
        lambda tx: tx.run("UPDATE members SET role = :role WHERE account_id = 'acc_bob'", role=role)
    )
    answer = world.answer(operation, "bob", target="PR Reviewer", **ARGS[operation.name])
    enough = access.at_least(role, NEEDS[operation.name])
    if enough and operation.name != "crews.set_member":
        assert not isinstance(answer, Refused), answer
    else:
        expected = "not_permitted" if not enough else None
        assert getattr(answer, "code", None) == expected


def test_a_program_that_may_not_define_is_refused(world: World) -> None:
    for operation in TARGETED[2:]:
        answer = world.answer(operation, "laptop", target="PR Reviewer", **ARGS[operation.name])
        assert (answer.code, "author" in answer.problems[0]) == ("not_permitted", True)


# ── who an allow-list admits ─────────────────────────────────────────────────────────────────


def caller(kind: CallerKind, **more: Any) -> Caller:
    return Caller(
        kind=kind,
        account_id="acc_ada",
        account_name="ada",
        scopes=frozenset(Scope),
        connection_id="conn_1",
        agent_id="agent_1",
        **more,
    )


@pytest.mark.parametrize(
    ("kind", "admitted"),
    [
        (CallerKind.PERSON, {"account:acc_ada"}),
        (CallerKind.CONNECTION, {"account:acc_ada", "connection:conn_1"}),
        (CallerKind.CREW_BUILDER, {"crew:agent_1"}),
        (CallerKind.CREW_RUN, {"crew:agent_1"}),
        (CallerKind.WORKFLOW_STEP, {"workflow:agent_1"}),
        (CallerKind.WORKFLOW_RUN, {"workflow:agent_1"}),
        (CallerKind.CODE, {"account:acc_ada"}),
        (CallerKind.SCHEDULE, {"account:acc_ada"}),
        (CallerKind.WEBHOOK, {"account:acc_ada"}),
        (CallerKind.RELAY_PROGRAM, set()),
    ],
)
def test_admitting_an_account_does_not_admit_the_agents_it_runs(
    kind: CallerKind, admitted: set[str]
) -> None:
    every = ("account:acc_ada", "connection:conn_1", "crew:agent_1", "workflow:agent_1")
    assert {each for each in every if access.admits(each, caller(kind))} == admitted
    assert access.admits("", caller(kind))


def test_a_list_admits_whoever_is_anywhere_in_it() -> None:
    assert access.admits("crew:x account:acc_ada", caller(CallerKind.PERSON))
    assert not access.admits("crew:x account:acc_bob", caller(CallerKind.PERSON))


def test_roles_stand_in_their_order() -> None:
    for place, role in enumerate(access.ROLES):
        for lower in access.ROLES[: place + 1]:
            assert access.at_least(role, lower)
        for higher in access.ROLES[place + 1 :]:
            assert not access.at_least(role, higher)
