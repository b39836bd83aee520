"""Retries of asks and calls: an accepted one is found again, as it is now (cases C01 and C03)."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.agents import ASK
from agentworks.contracts.calls import STATES
from agentworks.contracts.functions import CALL, Busy
from tests import calling
from tests.calling import Office, asleep, ends, soon, waiting
from tests.conftest import DAY

an_office = calling.an_office

REVIEW = {"target": "Pipeline", "function": "review_pr", "submission_id": "s-2"}
SETTINGS = {"target": "Pipeline", "function": "settings"}


def accepted(office: Office, name: str = "laptop", /, **args: Any) -> str:
    answer = office.answer(CALL, name, **args)
    assert not isinstance(answer, Busy), answer
    return str(getattr(answer, "call_id", answer))


def count(office: Office, table: str) -> int:
    return int(office.value(f"SELECT count(*) FROM {table}"))


# ── the same call, however it is spelled (C01) ───────────────────────────────────────────────


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ({"PR_NUMBER": 149}, {"PR_NUMBER": 149}),
        ({"PR_NUMBER": 149}, {"PR_NUMBER": "149"}),
        ({"PR_NUMBER": "149"}, {"PR_NUMBER": 149}),
        ({"PR_NUMBER": 149}, {"PR_NUMBER": 149.0}),
        ({"PR_NUMBER": 149}, '{"PR_NUMBER": 149}'),
        ({"PR_NUMBER": 149, "GROUP": "prod"}, {"GROUP": "prod", "PR_NUMBER": 149}),
    ],
)
def test_the_same_call_spelled_otherwise_is_the_same_call(
    office: Office, first: Any, again: Any
) -> None:
    call_id = accepted(office, **REVIEW, args=first)
    assert accepted(office, **REVIEW, args=again) == call_id
    assert count(office, "calls") == count(office, "turns") == 1


def test_the_same_call_by_another_name_of_its_target_is_the_same_call(office: Office) -> None:
    call_id = accepted(office, **REVIEW, args={"PR_NUMBER": 149})
    for target in ("pipe-line", "crew-pipeline"):
        assert accepted(office, **REVIEW | {"target": target}, args={"PR_NUMBER": 149}) == call_id


def test_arguments_left_out_are_the_same_as_none(office: Office) -> None:
    call_id = accepted(office, **SETTINGS, submission_id="s")
    spelled: tuple[Any, ...] = ({}, "{}")
    for args in spelled:
        assert accepted(office, **SETTINGS, submission_id="s", args=args) == call_id


def test_how_long_a_caller_waits_does_not_matter(office: Office) -> None:
    call_id = accepted(office, **SETTINGS, submission_id="s")
    office.end(call_id, "completed")
    assert accepted(office, **SETTINGS, submission_id="s", wait_seconds=25) == call_id


def test_a_default_that_moved_does_not_break_a_retry(office: Office) -> None:
    call_id = accepted(office, **REVIEW, args={"PR_NUMBER": 149})
    office.change("UPDATE functions SET inputs = replace(inputs, 'runloop-works', 'example')")
    assert accepted(office, **REVIEW, args={"PR_NUMBER": 149}) == call_id
    assert accepted(office, **REVIEW, args={"PR_NUMBER": "149"}) == call_id
    kept = office.value("SELECT args FROM calls")
    assert "runloop-works" in kept


def test_a_function_that_is_gone_or_changed_does_not_break_a_retry(office: Office) -> None:
    call_id = accepted(office, **REVIEW, args={"PR_NUMBER": 149})
    office.change("UPDATE functions SET inputs = '[]'")
    assert accepted(office, **REVIEW, args={"PR_NUMBER": 149}) == call_id
    office.change("DELETE FROM functions")
    assert accepted(office, **REVIEW, args={"PR_NUMBER": 149}) == call_id
    again = office.answer(CALL, "laptop", **REVIEW, args={"PR_NUMBER": "149"})
    assert again.code == "submission_conflict"  # nothing says any more that it means the same


def test_another_call_under_the_same_id_is_a_conflict(office: Office, golden: Any) -> None:
    call_id = accepted(office, **REVIEW, args={"PR_NUMBER": 149})
    assert golden == office.call(CALL, "laptop", **REVIEW, args={"PR_NUMBER": 150})
    for other in ({"function": "settings"}, {"target": "Scout"}, {"target": "Nowhere"}):
        answer = office.answer(CALL, "laptop", **REVIEW | other, args={"PR_NUMBER": 149})
        assert answer.code == "submission_conflict", other
    for args in ({}, {"PR_NUMBER": 149, "GITHUB_OWNER": "runloop-works"}, None, "", [149]):
        answer = office.answer(CALL, "laptop", **REVIEW, args=args)
        assert answer.code == "submission_conflict", args
    assert count(office, "calls") == 1
    assert accepted(office, **REVIEW, args={"PR_NUMBER": 149}) == call_id


def test_retries_at_the_same_moment_are_one_call(office: Office) -> None:
    async def scene() -> set[str]:
        tries = [waiting(office, CALL, "laptop", **REVIEW, args={"PR_NUMBER": 149}) for _ in "123"]
        await asleep(office, 3)
        await office.store.transact(ends("call_1", "completed", answer="done"))
        return {(await soon(each)).call_id for each in tries}

    assert office.run(scene()) == {"call_1"}


# ── what binds an id, and what does not (C03) ────────────────────────────────────────────────


def test_a_refused_call_leaves_its_id_free_for_the_corrected_one(office: Office) -> None:
    refused = office.answer(CALL, "laptop", **REVIEW, args={"PR_NUMBER": 149, "GROUP": "dev"})
    assert refused.code == "invalid_input" and count(office, "submissions") == 0
    assert accepted(office, **refused.try_, submission_id="s-2") == "call_1"


def test_a_busy_call_leaves_its_id_free(office: Office) -> None:
    made = [office.called() for _ in range(3)]
    assert isinstance(office.answer(CALL, "laptop", **SETTINGS, submission_id="s-4"), Busy)
    office.end(made[0], "completed")
    fourth = accepted(office, **SETTINGS, submission_id="s-4")
    assert fourth not in made


def test_a_retry_is_found_before_it_is_counted_against_the_slots(office: Office) -> None:
    call_id = accepted(office, **SETTINGS, submission_id="s")
    office.called()
    office.called()
    assert accepted(office, **SETTINGS, submission_id="s") == call_id


def test_a_failed_call_is_found_and_never_run_again(office: Office, golden: Any) -> None:
    call_id = accepted(office, **SETTINGS, submission_id="s-5")
    office.end(call_id, "failed", reason="exit code 3")
    assert golden == office.call(CALL, "laptop", **SETTINGS, submission_id="s-5")
    assert count(office, "turns") == 1


@pytest.mark.parametrize("state", [each for each in STATES if each not in ("working", "answered")])
def test_a_retry_is_told_how_its_call_stands_now(office: Office, state: str) -> None:
    call_id = accepted(office, **SETTINGS, submission_id="s-6")
    office.begin(call_id)
    if state in ("timed_out", "late"):
        office.time_out(call_id)
    if state != "timed_out":
        office.end(call_id, "completed" if state == "late" else state)
    seen = [office.call(CALL, "laptop", **SETTINGS, submission_id="s-6") for _ in range(20)]
    assert {each["answer"]["status"] for each in seen} == {state}
    assert {each["answer"]["revision"] for each in seen} == {office.got(call_id).revision}


def test_a_retry_may_wait_for_the_end_like_the_first_try(office: Office) -> None:
    call_id = accepted(office, **SETTINGS, submission_id="s")

    async def scene() -> Any:
        answer = waiting(office, CALL, "laptop", **SETTINGS, submission_id="s")
        await asleep(office)
        await office.store.transact(ends(call_id, "completed", answer="done"))
        return await soon(answer)

    assert office.run(scene()).answer == "done"


def test_ids_of_other_accounts_and_conversations_are_others(office: Office) -> None:
    scout, tower = office.acts("scout", "crew-scout"), office.acts("tower", "crew-tower")
    made = []
    for name in ("laptop", "bob", scout, tower):
        made.append(accepted(office, name, **SETTINGS, submission_id="s-7"))
        office.change("UPDATE calls SET holds_slot = 0")
    assert len(set(made)) == 4
    assert accepted(office, "worker", **SETTINGS, submission_id="s-7") == made[0]


def test_who_has_lost_access_does_not_find_the_call(office: Office) -> None:
    call_id = accepted(office, "bob", **SETTINGS, submission_id="s")
    office.change("DELETE FROM members WHERE account_id = 'acc_bob'")
    answer = office.answer(CALL, "bob", **SETTINGS, submission_id="s")
    assert (answer.code, answer.problems) == ("not_found", [f'no call "{call_id}"'])


def test_a_call_that_went_with_its_agent_is_not_made_again(office: Office) -> None:
    accepted(office, **SETTINGS, submission_id="s")
    office.change("DELETE FROM agents WHERE agent_id = 'crew-pipeline'")
    assert office.answer(CALL, "laptop", **SETTINGS, submission_id="s").code == "not_found"


def test_an_id_is_remembered_across_a_restart_and_for_days(office: Office) -> None:
    call_id = accepted(office, **REVIEW, args={"PR_NUMBER": 149})
    office.store.close()
    office.now += 6 * DAY
    office.store = office.open()
    office.dispatch._store = office.store
    assert accepted(office, **REVIEW, args={"PR_NUMBER": "149"}) == call_id


# ── asks ─────────────────────────────────────────────────────────────────────────────────────


def test_a_retried_ask_is_one_question(office: Office) -> None:
    question = {"message": "What is up?", "submission_id": "s"}
    first = office.answer(ASK, "laptop", **question, target="Scout")
    again = office.answer(ASK, "laptop", **question, target="SCOUT")
    assert first.call_id == again.call_id and count(office, "messages") == 1
    office.end(first.call_id, "answered", answer="All is well.")
    assert office.answer(ASK, "worker", **question, target="Scout").answer == "All is well."


def test_another_question_under_the_same_id_is_a_conflict(office: Office, golden: Any) -> None:
    question = {"target": "Scout", "message": "What is up?", "submission_id": "s"}
    office.answer(ASK, "laptop", **question)
    assert golden == office.call(ASK, "laptop", **question | {"message": "And now?"})
    for other in ({"target": "Mill"}, {"new_conversation": True}, {"about": "call_1"}):
        answer = office.answer(ASK, "laptop", **question | other)
        assert answer.code == "submission_conflict", other
    named = office.answer(ASK, "worker", **question, agent_name="worker")
    assert named.code == "submission_conflict"


def test_a_retried_message_into_a_call_is_heard_once(office: Office) -> None:
    call_id = office.called()
    about = {"target": "Pipeline", "message": "stop", "about": call_id, "submission_id": "s"}
    for _ in range(3):
        assert office.answer(ASK, "laptop", **about).call_id == call_id
    assert office.value("SELECT count(*) FROM turns WHERE cause = 'steer'") == 1
    office.end(call_id, "completed")
    assert office.answer(ASK, "laptop", **about).call_id == call_id
