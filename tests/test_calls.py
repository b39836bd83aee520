"""Calls that were accepted: their statuses, and who may see them."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.calls import GET, STATES
from agentworks.rules import limits
from tests import calling
from tests.calling import Office
from tests.conftest import MINUTE

an_office = calling.an_office

FILES = '[{"file": "report/findings.md", "size": 12, "modified": 1}]'


# ── statuses ─────────────────────────────────────────────────────────────────────────────────


def test_a_call_that_has_not_begun_waits_its_turn(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.now += 5_000
    assert golden == office.call(GET, "laptop", call_id=call_id)


def test_a_working_call_shows_its_last_five_lines_and_what_it_does(
    office: Office, golden: Any
) -> None:
    call_id = office.called()
    office.now += 1_000
    office.begin(call_id)
    for number in range(1, 8):
        office.now += 1_000
        office.progress(call_id, f"read file {number}", activity="reading the diff")
    office.now += 3 * MINUTE
    assert golden == office.call(GET, "laptop", call_id=call_id)


def test_a_call_that_waits_for_an_answer_shows_what_is_asked(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.begin(call_id)
    schema = {"type": "object", "required": ["publish"], "properties": {"publish": {}}}
    office.question(call_id, schema=schema, expires_at=office.now + MINUTE)
    office.question(call_id, "Your code?", kind="secret")
    office.now += 30_000
    assert golden == office.call(GET, "laptop", call_id=call_id)


def test_a_completed_call_has_its_result_and_names_its_files(office: Office, golden: Any) -> None:
    call_id = office.called("laptop", "review_pr", args={"PR_NUMBER": 149})
    office.end(call_id, "completed", answer="Two things.", result='{"findings": []}', files=FILES)
    assert golden == office.call(GET, "laptop", call_id=call_id)


def test_a_result_may_be_null_and_is_told_from_none(office: Office) -> None:
    with_null, without = office.called(), office.called()
    office.end(with_null, "completed", result="null")
    office.end(without, "completed", answer="done")
    answers = [office.call(GET, "laptop", call_id=each) for each in (with_null, without)]
    assert answers[0]["answer"]["result"] is None
    assert "result" not in answers[1]["answer"]


def test_integers_of_any_size_come_back_as_they_are(office: Office) -> None:
    call_id = office.called()
    office.end(call_id, "completed", result='{"n": 100000000000000000000000000001}')
    assert office.got(call_id).result == {"n": 100000000000000000000000000001}


def test_a_result_too_large_for_an_answer_is_named_by_its_file(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.end(call_id, "completed", result_file="result.json")
    assert golden == office.call(GET, "laptop", call_id=call_id)


def test_an_answered_ask_has_its_answer(office: Office, golden: Any) -> None:
    call_id = office.asked().call_id
    office.end(call_id, "answered", answer="All is well.")
    assert golden == office.call(GET, "laptop", call_id=call_id)


def test_a_failed_call_keeps_what_there_was_of_its_work(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.end(call_id, "failed", reason="exit code 3", partial="Found one thing so far")
    assert golden == office.call(GET, "laptop", call_id=call_id)


def test_an_interrupted_call_says_how_far_it_had_come(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.begin(call_id)
    office.progress(call_id, "half way")
    office.end(call_id, "interrupted", reason="the server stopped while it ran")
    assert golden == office.call(GET, "laptop", call_id=call_id)


def test_a_call_without_a_sign_of_life_is_timed_out(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.begin(call_id)
    office.now += 60 * MINUTE
    office.time_out(call_id)
    office.now += 3 * MINUTE
    assert golden == office.call(GET, "laptop", call_id=call_id)


def test_an_answer_after_the_time_was_up_is_late(office: Office, golden: Any) -> None:
    call_id = office.called()
    office.begin(call_id)
    office.time_out(call_id)
    office.end(call_id, "completed", answer="At last.", result='{"n": 1}')
    assert golden == office.call(GET, "laptop", call_id=call_id)


@pytest.mark.parametrize("state", [each for each in STATES if each != "working"])
def test_a_call_that_has_ended_never_moves_again(office: Office, state: str) -> None:
    call_id = office.asked().call_id if state == "answered" else office.called()
    office.begin(call_id)
    if state in ("timed_out", "late"):
        office.time_out(call_id)
    if state != "timed_out":
        office.end(call_id, "completed" if state == "late" else state)
    legal = [state] if state != "timed_out" else [state, "late", "failed", "interrupted"]
    for becomes in STATES:
        if becomes not in legal:
            with pytest.raises(Exception, match="no such move"):
                office.change("UPDATE calls SET state = ?, settled_at = 1", becomes)


def test_many_files_are_named_in_part(office: Office) -> None:
    call_id = office.called()
    listed = ",".join(f'{{"file": "f{n:03}", "size": 1, "modified": 1}}' for n in range(30))
    office.end(call_id, "completed", files=f"[{listed}]")
    answer = office.got(call_id)
    assert len(answer.files) == limits.CALL_FILES_SHOWN_MAX and answer.more_files


# ── who may see a call ───────────────────────────────────────────────────────────────────────


def test_a_call_is_for_its_account_and_its_targets_editors(office: Office) -> None:
    call_id = office.called("bob")
    for name in ("bob", "person:bob", "laptop", "watcher", "person:ada", "dora"):
        assert office.got(call_id, name).call_id == call_id, name


def test_a_call_of_others_is_as_unknown_as_one_that_is_not_there(
    office: Office, golden: Any
) -> None:
    call_id = office.called()
    exchange = office.call(GET, "bob", call_id=call_id)
    nothing = office.call(GET, "bob", call_id="call_x")
    assert exchange["answer"]["problems"] == [f'no call "{call_id}"']
    assert nothing["answer"]["problems"] == ['no call "call_x"']
    assert golden == exchange


def test_a_call_beyond_the_bounds_of_a_connection_is_not_there_for_it(office: Office) -> None:
    inside = office.called("laptop", "look", target="Scout")
    outside = office.called("laptop")
    assert office.got(inside, "narrow").call_id == inside
    assert office.got(outside, "narrow").code == "not_found"


def test_who_loses_access_to_the_target_loses_the_call(office: Office) -> None:
    call_id = office.called("bob")
    office.change("UPDATE members SET role = 'reader' WHERE account_id = 'acc_bob'")
    assert office.got(call_id, "bob").call_id == call_id
    office.change("DELETE FROM members WHERE account_id = 'acc_bob'")
    assert office.got(call_id, "bob").code == "not_found"


def test_an_agent_sees_the_calls_of_its_conversation_and_the_one_it_works_on(
    office: Office,
) -> None:
    scout = office.acts("scout", "crew-scout")
    own = office.called(scout)
    assert office.got(own, scout).call_id == own
    elsewhere = office.acts("elsewhere", "crew-scout")
    assert office.got(own, elsewhere).code == "not_found"
    another = office.acts("tower", "crew-tower")
    assert office.got(own, another).code == "not_found"
    working = office.acts("pipeline", "crew-pipeline", own)
    assert office.got(own, working).call_id == own
    assert office.got(office.called(), working).code == "not_found"


def test_the_owner_sees_what_an_agent_of_theirs_has_called(office: Office) -> None:
    call_id = office.called(office.acts("scout", "crew-scout"))
    assert office.got(call_id).caller == "Scout"
