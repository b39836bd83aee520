"""Asking about a call that runs: the message goes into the work on it."""

from __future__ import annotations

from typing import Any

from agentworks.contracts.agents import ASK
from agentworks.rules import limits
from tests import calling
from tests.calling import Office
from tests.conftest import HOUR

an_office = calling.an_office

STOP = {"target": "Pipeline", "message": "stop"}


def steered(office: Office, call_id: str) -> list[Any]:
    """What waits for the turn of a call to take it up."""
    found = office.rows(
        "SELECT prompt FROM turns WHERE call_id = ? AND cause = 'steer' AND state = 'queued' "
        "AND chat_id = (SELECT chat_id FROM calls WHERE calls.call_id = turns.call_id)",
        call_id,
    )
    return [prompt for (prompt,) in found]


def test_a_message_about_a_running_call_goes_into_its_turn(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.begin(call_id)
    assert golden == office.call(ASK, "laptop", **STOP, about=call_id)
    assert steered(office, call_id) == ["stop"]


def test_a_message_about_an_ask_belongs_to_its_conversation(office: Office) -> None:
    asked = office.asked()
    office.begin(asked.call_id)
    answer = office.asked("laptop", "And the weather?", about=asked.call_id)
    assert (answer.call_id, answer.inbox_id) == (asked.call_id, asked.inbox_id)
    assert steered(office, asked.call_id) == ["And the weather?"]
    assert office.rows("SELECT body FROM messages ORDER BY sequence") == [
        ("What is up?",),
        ("And the weather?",),
    ]


def test_a_call_that_timed_out_can_be_told_to_stop_while_it_runs(office: Office) -> None:
    call_id = office.called()
    office.begin(call_id)
    office.time_out(call_id)
    assert office.answer(ASK, "laptop", **STOP, about=call_id).call_id == call_id
    assert steered(office, call_id) == ["stop"]


def test_a_call_that_has_ended_takes_no_message(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.end(call_id, "completed")
    assert golden == office.call(ASK, "laptop", **STOP, about=call_id)


def test_only_the_caller_speaks_into_a_call(office: Office) -> None:
    call_id = office.called("bob")
    for name in ("laptop", "dora", "person:ada"):
        assert office.answer(ASK, name, **STOP, about=call_id).code == "not_found", name
    assert office.answer(ASK, "bob", **STOP, about=call_id).call_id == call_id


def test_a_call_of_another_target_is_told_from_this_one(office: Office, golden: Any) -> None:
    call_id = office.called()
    exchange = office.call(ASK, "laptop", target="Scout", message="stop", about=call_id)
    assert golden == exchange
    assert office.answer(ASK, "laptop", **exchange["answer"]["try"]).call_id == call_id


def test_about_a_call_no_conversation_begins(office: Office) -> None:
    call_id = office.called()
    answer = office.answer(ASK, "laptop", **STOP, about=call_id, new_conversation=True)
    assert answer.try_ == STOP | {"about": call_id}
    assert office.answer(ASK, "laptop", **answer.try_).call_id == call_id


def test_the_messaging_switch_stops_programs_here_too(office: Office) -> None:
    call_id = office.called()
    office.change("UPDATE agents SET messaging = 0")
    assert office.answer(ASK, "laptop", **STOP, about=call_id).code == "messaging_off"
    assert office.answer(ASK, "person:ada", **STOP, about=call_id).call_id == call_id


def test_a_call_takes_so_many_messages_an_hour(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.begin(call_id)
    for _ in range(limits.STEERS_PER_HOUR_MAX):
        office.answer(ASK, "laptop", **STOP, about=call_id)
        office.change(
            "UPDATE turns SET state = 'steered' WHERE cause = 'steer' AND state = 'queued'"
        )
        office.now += 1_000
    assert golden == office.call(ASK, "laptop", **STOP, about=call_id)
    office.now += HOUR
    assert office.answer(ASK, "laptop", **STOP, about=call_id).call_id == call_id


def test_messages_that_nobody_takes_up_do_not_pile_up(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.begin(call_id)
    for _ in range(limits.STEERS_WAITING_MAX):
        office.answer(ASK, "laptop", **STOP, about=call_id)
    assert golden == office.call(ASK, "laptop", **STOP, about=call_id)


def test_an_agent_speaks_into_the_calls_of_its_conversation(office: Office) -> None:
    scout = office.acts("scout", "crew-scout")
    call_id = office.called(scout)
    assert office.answer(ASK, scout, **STOP, about=call_id).call_id == call_id
    elsewhere = office.acts("elsewhere", "crew-scout")
    assert office.answer(ASK, elsewhere, **STOP, about=call_id).code == "not_found"
