"""Admission: who may use which function, and what a refused call is told."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from agentworks.contracts.functions import CALL
from agentworks.contracts.operation import CallerKind
from agentworks.contracts.refusal import Input
from agentworks.tables import functions
from tests import calling
from tests.authored import functions_and_calls
from tests.calling import Office

an_office = calling.an_office

REVIEW = {"target": "Pipeline", "function": "review_pr"}
FREE_SLOTS = "UPDATE calls SET holds_slot = 0"


def code(answer: Any) -> str:
    return str(answer.code)


# ── what may be called ───────────────────────────────────────────────────────────────────────


def test_an_accepted_call_is_working_and_has_an_id(office: Office, golden: Any) -> None:
    assert golden == office.call(CALL, "laptop", **REVIEW, args={"PR_NUMBER": 149})


def test_a_target_is_a_name_in_any_case_and_punctuation_or_an_id(office: Office) -> None:
    for target in ("Pipeline", "pipe-LINE", " Pipe Line.", "crew-pipeline"):
        office.called(target=target)
        office.change(FREE_SLOTS)


def test_a_call_runs_in_a_conversation_of_its_own(office: Office) -> None:
    one, other = office.called(), office.called()
    chats = office.rows("SELECT chat_id, kind, holder, mode FROM chats ORDER BY chat_id")
    assert [chat[1:] for chat in chats] == [("call", None, "builder")] * 2
    turns = office.rows("SELECT chat_id, call_id, cause, state FROM turns ORDER BY call_id")
    assert [turn[1:] for turn in turns] == [
        (one, "function", "queued"),
        (other, "function", "queued"),
    ]
    assert turns[0][0] != turns[1][0]


def test_a_call_keeps_what_the_function_was_when_it_was_accepted(office: Office) -> None:
    call_id = office.called("laptop", "review_pr", args={"PR_NUMBER": 149})
    office.change("UPDATE functions SET instructions = 'Other', result_schema = NULL")
    kept = office.rows(
        "SELECT calls.args, calls.result_schema, turns.prompt FROM calls "
        "JOIN turns ON turns.call_id = calls.call_id WHERE calls.call_id = ?",
        call_id,
    )
    args, schema, prompt = kept[0]
    assert json.loads(args) == {"PR_NUMBER": 149, "GITHUB_OWNER": "runloop-works"}
    assert json.loads(schema)["required"] == ["findings"]
    assert prompt == "Read the diff and report what is wrong."


def test_an_unknown_target_is_refused_with_the_nearest_and_a_call_that_would_work(
    office: Office, golden: Any
) -> None:
    assert golden == office.call(
        CALL, "laptop", target="Pipelin", function="review", args={"pr_number": "149"}
    )


def test_a_near_target_without_that_function_gives_no_call_to_follow(office: Office) -> None:
    answer = office.answer(CALL, "laptop", target="Scut", function="review_pr", args={})
    assert (code(answer), answer.try_, answer.placeholders) == ("not_found", None, [])


def test_a_target_that_is_not_yours_is_as_unknown_as_one_that_is_not_there(office: Office) -> None:
    def problems(target: str, name: str = "laptop") -> list[str]:
        answer = office.answer(CALL, name, target=target, function="open")
        assert code(answer) == "not_found"
        return [each.replace(target, "X") for each in answer.problems]

    assert problems("Vault") == problems("crew-vault") == problems("Zzz")
    assert problems("Pipeline", "narrow") == problems("Zzz", "narrow")


def test_a_name_of_several_agents_is_refused_with_all_of_them(office: Office, golden: Any) -> None:
    assert golden == office.call(CALL, "laptop", target="latency", function="measure")


def test_a_reader_may_not_call(office: Office, golden: Any) -> None:
    assert golden == office.call(CALL, "cleo", **REVIEW, args={"PR_NUMBER": 149})


def test_a_code_agent_has_nothing_to_call(office: Office, golden: Any) -> None:
    assert golden == office.call(CALL, "laptop", target="Desk", function="ask")


def test_an_unknown_function_is_refused_with_all_signatures_and_the_nearest_call(
    office: Office, golden: Any
) -> None:
    assert golden == office.call(
        CALL, "laptop", target="Pipeline", function="ReviewPR", args={"PR_NUMBER": "149", "X": 1}
    )


def test_ask_is_no_function_to_call(office: Office) -> None:
    answer = office.answer(CALL, "laptop", target="Scout", function="ask", args={"message": "Hi"})
    assert code(answer) == "unknown_function" and answer.functions == ["look()"]
    assert answer.problems == ["ask is no function to call: use the operation agents.ask"]


def test_an_agent_without_functions_says_so(office: Office) -> None:
    answer = office.answer(CALL, "laptop", target="Quiet", function="look")
    assert code(answer) == "unknown_function" and answer.functions == []


def test_nothing_runs_an_agent_without_a_runtime(office: Office, golden: Any) -> None:
    assert golden == office.call(CALL, "laptop", target="Idle", function="wait")


# ── who may call it ──────────────────────────────────────────────────────────────────────────


def test_a_caller_that_a_function_does_not_admit_is_refused(office: Office, golden: Any) -> None:
    assert golden == office.call(
        CALL, "laptop", target="Pipeline", function="release", args={"VERSION": "1.2"}
    )


def test_a_function_admits_by_account_by_connection_and_by_crew(office: Office) -> None:
    office.called("bob", "report")
    office.called("laptop", "report")
    assert code(office.answer(CALL, "worker", target="Pipeline", function="report")) == (
        "not_permitted"
    )
    scout = office.acts("scout", "crew-scout")
    office.called(scout, "release", args={"VERSION": "1.2"})


def test_admitting_an_account_admits_none_of_its_agents(office: Office) -> None:
    office.change("UPDATE functions SET allowed_callers = 'account:acc_ada' WHERE name = 'release'")
    scout = office.acts("scout", "crew-scout")
    answer = office.answer(
        CALL, scout, target="Pipeline", function="release", args={"VERSION": "1"}
    )
    assert code(answer) == "not_permitted"


def test_signatures_of_functions_that_do_not_admit_a_caller_are_not_listed(office: Office) -> None:
    answer = office.answer(CALL, "worker", target="Pipeline", function="releas")
    assert not any(each.startswith(("release", "report")) for each in answer.functions)
    assert answer.try_ is None


def test_a_guests_conversation_begins_nothing(office: Office, golden: Any) -> None:
    guest = office.acts("scout", "crew-scout", replies_only=True)
    assert golden == office.call(CALL, guest, target="Pipeline", function="settings")


def test_the_run_mode_of_a_crew_calls_nothing(office: Office) -> None:
    scout = office.acts("scout", "crew-scout", kind=CallerKind.CREW_RUN)
    answer = office.answer(CALL, scout, target="Pipeline", function="settings")
    assert code(answer) == "not_permitted"


# ── arguments ────────────────────────────────────────────────────────────────────────────────


def test_a_wrong_call_is_refused_with_every_problem_and_a_corrected_call(
    office: Office, golden: Any
) -> None:
    assert golden == office.call(
        CALL, "laptop", **REVIEW, args={"GROUP": "dev", "PR_NUMBRE": " 149", "COLOUR": "red"}
    )


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(functions_and_calls())
def test_following_try_as_it_stands_is_accepted(
    office: Office, made: tuple[list[Input], Any]
) -> None:
    declared, args = made
    inputs = msgspec.json.encode(declared).decode()
    office.transact(
        lambda tx: functions.put(tx, "crew-scout", "made_up", 2, "", inputs, None, "", "")
    )
    given = {} if args is msgspec.UNSET else {"args": args}
    first = office.answer(CALL, "laptop", target="Scout", function="made-up", **given)
    assert code(first) == "unknown_function"
    second = office.answer(CALL, "laptop", target="Scut", function="made_up", **given)
    assert code(second) == "not_found"
    third = office.answer(CALL, "laptop", target="Scout", function="made_up", **given)
    sent = json.loads(msgspec.json.encode([first, second, third]))
    for refused in sent:
        if refused["status"] == "refused":
            answer = office.answer(CALL, "laptop", **refused["try"])
            assert answer.call_id, answer
            assert all(path.startswith("args.") for path in refused.get("placeholders", []))
    office.change(FREE_SLOTS)


# ── notify ───────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_inside_may_be_prompted_by_the_outcome(office: Office) -> None:
    office.change(
        "INSERT INTO chats VALUES ('chat_of_scout', 'crew-scout', 'builder', 'own', 'own', '', "
        "NULL, 0, 0)"
    )
    scout = office.acts("scout", "crew-scout")
    call_id = office.called(scout, notify=True)
    office.end(call_id, "completed")
    assert office.rows("SELECT cause, prompt FROM turns WHERE chat_id = 'chat_of_scout'") == [
        ("notify", call_id)
    ]


def test_who_is_in_no_conversation_is_told_to_wait_instead(office: Office, golden: Any) -> None:
    exchange = office.call(CALL, "laptop", **REVIEW, args={"PR_NUMBER": "x"}, notify=True)
    assert golden == exchange
    assert office.answer(CALL, "laptop", **exchange["answer"]["try"]).call_id


@pytest.mark.parametrize("kind", [CallerKind.WORKFLOW_STEP, CallerKind.SCHEDULE])
def test_a_workflow_step_and_a_schedule_may_not_be_notified(
    office: Office, kind: CallerKind
) -> None:
    step = office.acts("step", "crew-scout", kind=kind)
    answer = office.answer(CALL, step, target="Pipeline", function="settings", notify=True)
    assert code(answer) == "invalid_input" and "notify" not in answer.try_


def test_the_work_on_a_call_ends_with_its_answer_and_is_not_notified(office: Office) -> None:
    call_id = office.called(target="Scout", function="look")
    scout = office.acts("scout", "crew-scout", call_id)
    answer = office.answer(CALL, scout, target="Pipeline", function="settings", notify=True)
    assert code(answer) == "invalid_input"
