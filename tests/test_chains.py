"""Chains of calls, which end, and the slots of an agent, which are few."""

from __future__ import annotations

import json
from typing import Any

from agentworks.contracts.functions import CALL, Busy
from agentworks.contracts.refusal import RefusalCode
from agentworks.rules import limits
from tests import calling
from tests.calling import Office

an_office = calling.an_office

REVIEW = {"target": "Pipeline", "function": "review_pr"}
FREE_SLOTS = "UPDATE calls SET holds_slot = 0"


def code(answer: Any) -> str:
    return str(answer.code)


# ── chains ───────────────────────────────────────────────────────────────────────────────────


def test_a_chain_holds_four_agents(office: Office, golden: Any) -> None:
    last = office.called(target="Scout", function="look")
    for agent, target, function in (
        ("scout", "Pipeline", "settings"),
        ("pipeline", "Tower", "watch"),
        ("tower", "Mill", "grind"),
    ):
        acting = office.acts(agent, f"crew-{agent}", last)
        last = office.called(acting, function, target=target)
    chain = office.value("SELECT chain FROM calls WHERE call_id = ?", last)
    assert json.loads(chain) == ["crew-scout", "crew-pipeline", "crew-tower", "crew-mill"]
    mill = office.acts("mill", "crew-mill", last)
    assert golden == office.call(CALL, mill, target="Depot", function="fetch", args={"PART": "x"})


def test_an_agent_in_the_chain_is_not_called_again(office: Office, golden: Any) -> None:
    first = office.called(target="Scout", function="look")
    second = office.called(office.acts("scout", "crew-scout", first), "settings")
    pipeline = office.acts("pipeline", "crew-pipeline", second)
    assert golden == office.call(CALL, pipeline, target="Scout", function="look")


def test_an_agent_does_not_call_itself_from_its_own_conversation(office: Office) -> None:
    scout = office.acts("scout", "crew-scout")
    assert code(office.answer(CALL, scout, target="Scout", function="look")) == "loop_refused"


def test_a_chain_makes_twenty_calls(office: Office, golden: Any) -> None:
    first = office.called(target="Scout", function="look")
    scout = office.acts("scout", "crew-scout", first)
    for _ in range(limits.CHAIN_CALLS_MAX - 2):
        office.called(scout)
        office.change(FREE_SLOTS)
    last = office.called(scout, target="Tower", function="watch")
    assert golden == office.call(CALL, scout, target="Mill", function="grind")
    tower = office.acts("tower", "crew-tower", last)
    assert code(office.answer(CALL, tower, target="Mill", function="grind")) == "loop_refused"


def test_calls_that_outsiders_make_are_each_a_chain_of_their_own(office: Office) -> None:
    for _ in range(limits.CHAIN_CALLS_MAX + 2):
        office.called()
        office.change(FREE_SLOTS)


# ── slots ────────────────────────────────────────────────────────────────────────────────────


def test_with_three_running_a_call_is_told_when_to_come_back(office: Office, golden: Any) -> None:
    office.called()
    office.called("bob", "review_pr", args={"PR_NUMBER": 7})
    office.called("bob", "report")
    exchange = office.call(CALL, "worker", **REVIEW, args={"PR_NUMBER": 149}, submission_id="s-4")
    assert golden == exchange
    assert office.value("SELECT count(*) FROM calls") == 3
    assert office.value("SELECT count(*) FROM submissions") == 0


def test_a_wrong_call_is_corrected_even_when_every_slot_is_taken(office: Office) -> None:
    for _ in range(3):
        office.called()
    answer = office.answer(CALL, "laptop", **REVIEW, args={})
    assert code(answer) == RefusalCode.INVALID_INPUT


def test_a_slot_is_free_when_a_call_ends(office: Office) -> None:
    first, *_ = (office.called() for _ in range(3))
    assert isinstance(office.answer(CALL, "laptop", target="Pipeline", function="settings"), Busy)
    office.end(first, "completed")
    office.called()


def test_a_call_that_has_timed_out_holds_its_slot_while_it_runs(office: Office) -> None:
    made = [office.called() for _ in range(3)]
    office.begin(made[0])
    office.time_out(made[0])
    assert isinstance(office.answer(CALL, "laptop", target="Pipeline", function="settings"), Busy)
    office.end(made[0], "late")
    office.called()


def test_the_slots_of_one_agent_are_not_anothers(office: Office) -> None:
    for _ in range(3):
        office.called()
    office.called(target="Scout", function="look")
