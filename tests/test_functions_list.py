"""Which functions admit a caller, and how each is called: functions.list."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts import agents, functions
from agentworks.contracts.operation import CallerKind
from agentworks.rules import listings
from tests import office
from tests.conftest import World

a_world = office.a_world


def test_functions_are_listed_with_their_inputs_ask_first(world: World, golden: Any) -> None:
    assert golden == world.call(functions.LIST, "bob", target="PR Reviewer")


def test_without_a_target_the_functions_of_every_agent_are_listed(world: World) -> None:
    answer = world.answer(functions.LIST, "bob")
    shown = [(each.target, each.function, each.can) for each in answer.functions]
    assert shown == [
        ("LATENCY!", "ask", ""),
        ("PR Reviewer", "ask", ""),
        ("PR Reviewer", "review_pr", ""),
        ("Release Notes", "ask", "read only"),
        ("Release Notes", "draft", "read only"),
        ("Release Notes", "publish", "read only"),
        ("Release Notes", "retract", "read only"),
        ("Release Notes", "announce", "read only"),
        ("Vault", "ask", ""),
    ]


def test_a_code_agent_has_no_functions(world: World) -> None:
    assert world.answer(functions.LIST, "ada", target="Desk").functions == []


def test_an_agent_that_takes_no_messages_from_programs_has_no_ask_for_them(world: World) -> None:
    world.transact(lambda tx: tx.run("UPDATE agents SET messaging = 0"))
    program = world.answer(functions.LIST, "ada", target="PR Reviewer").functions
    person = world.answer(functions.LIST, "person:ada", target="PR Reviewer").functions
    assert [each.function for each in program] == ["review_pr", "merge_pr"]
    assert [each.function for each in person] == ["ask", "review_pr", "merge_pr"]


def test_a_list_of_functions_ends_somewhere(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentworks.rules.limits.FUNCTIONS_LISTED_MAX", 3)
    answer = world.answer(functions.LIST, "ada")
    assert len(answer.functions) == 3
    assert answer.more


def test_an_unknown_target_is_refused(world: World, golden: Any) -> None:
    assert golden == world.call(functions.LIST, "bob", target="PR Reviewr")


def test_an_ambiguous_target_is_refused(world: World, golden: Any) -> None:
    assert golden == world.call(functions.LIST, "ada", target="latency")


def test_the_signature_of_ask_is_that_of_a_function() -> None:
    assert listings.ASK_HELP.signature == "ask(message: str)"


def test_everybody_who_may_call_or_write_may_list() -> None:
    assert CallerKind.CREW_RUN in agents.LIST.offered_to
    assert CallerKind.WORKFLOW_STEP in agents.LIST.offered_to
