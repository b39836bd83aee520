"""Waiting for calls: for their end, for a question, or for any change."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.calls import GET
from agentworks.contracts.functions import CALL
from agentworks.dispatch import longest_wait
from agentworks.rules import limits
from tests import calling
from tests.calling import Office, asks, asleep, ends, progresses, soon, still_waits, waiting

an_office = calling.an_office

SETTINGS = {"target": "Pipeline", "function": "settings"}


def test_waiting_for_a_call_one_made_ends_with_its_end(office: Office) -> None:
    async def scene() -> Any:
        answer = waiting(office, CALL, "laptop", **SETTINGS)
        await asleep(office)
        await office.store.transact(progresses("call_1", "reading"))
        await asleep(office)
        assert still_waits(answer)
        await office.store.transact(ends("call_1", "completed", answer="done"))
        return await soon(answer)

    answer = office.run(scene())
    assert (type(answer).__name__, answer.answer) == (
        "Completed",
        "done",
    )


def test_waiting_for_a_call_one_made_ends_with_a_question(office: Office) -> None:
    async def scene() -> Any:
        answer = waiting(office, CALL, "laptop", **SETTINGS)
        await asleep(office)
        await office.store.transact(calling.begins("call_1"))
        await office.store.transact(asks("call_1"))
        return await soon(answer)

    assert office.run(scene()).pending_inputs[0].question == "Publish?"


@pytest.mark.parametrize("after", [{}, {"after": 1}, {"after": 2**63 - 1}])
def test_waiting_for_a_call_ends_with_any_change(office: Office, after: dict[str, int]) -> None:
    call_id = office.called()

    async def scene() -> Any:
        answer = waiting(office, GET, "laptop", call_id=call_id, **after)
        await asleep(office)
        await office.store.transact(progresses(call_id, "reading"))
        return await soon(answer)

    answer = office.run(scene())
    assert [each.line for each in answer.progress] == ["reading"] and answer.revision == 2


def test_news_that_came_before_is_not_waited_for(office: Office) -> None:
    call_id = office.called()
    office.progress(call_id, "reading")

    async def scene() -> Any:
        return await soon(waiting(office, GET, "laptop", call_id=call_id, after=1))

    assert office.run(scene()).revision == 2


def test_a_call_that_has_ended_is_not_waited_for(office: Office) -> None:
    call_id = office.called()
    office.end(call_id, "failed", reason="no")

    async def scene(**args: Any) -> Any:
        return await soon(waiting(office, GET, "laptop", call_id=call_id, **args))

    assert office.run(scene()).reason == office.run(scene(after=99)).reason == "no"


def test_who_waits_on_for_a_call_that_timed_out_learns_that_it_came_late(office: Office) -> None:
    call_id = office.called()
    office.begin(call_id)
    office.time_out(call_id)
    seen = office.got(call_id).revision

    async def scene() -> Any:
        assert (await soon(waiting(office, GET, "laptop", call_id=call_id))).reason
        answer = waiting(office, GET, "laptop", call_id=call_id, after=seen)
        await asleep(office)
        await office.store.transact(ends(call_id, "completed", answer="At last."))
        return await soon(answer)

    assert office.run(scene()).answer == "At last."


def test_a_connection_that_may_not_read_may_wait_for_its_own_call(office: Office) -> None:
    async def scene() -> Any:
        answer = waiting(office, CALL, "pusher", **SETTINGS)
        await asleep(office)
        await office.store.transact(ends("call_1", "completed", answer="done"))
        return await soon(answer)

    assert office.run(scene()).answer == "done"
    assert office.got("call_1", "pusher").code == "not_permitted"


def test_who_is_shut_out_while_waiting_learns_nothing_more(office: Office) -> None:
    async def scene() -> Any:
        answer = waiting(office, CALL, "bob", **SETTINGS)
        await asleep(office)
        await office.store.transact(
            lambda tx: tx.run("DELETE FROM members WHERE account_id = 'acc_bob'")
        )
        await office.store.transact(ends("call_1", "completed", answer="done"))
        return await soon(answer)

    assert office.run(scene()).code == "not_found"


def test_an_agent_inside_may_wait_longer_than_others(office: Office) -> None:
    scout = office.acts("scout", "crew-scout")
    assert longest_wait(office.turns[scout]) == limits.INSIDE_WAIT_SECONDS_MAX == 120
    outside, _ = office.store.read(office.who("laptop"))
    assert longest_wait(outside) == limits.WAIT_SECONDS_MAX == 25
