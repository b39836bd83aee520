"""Asking in plain words: one conversation per caller and target, continued, in order."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.agents import ASK
from agentworks.contracts.messages import READ
from agentworks.contracts.operation import CallerKind
from agentworks.rules import limits
from tests import calling
from tests.calling import Office, asks, asleep, begins, ends, soon, waiting
from tests.conftest import DAY, HOUR

an_office = calling.an_office

SCOUT = {"target": "Scout", "message": "What is up?"}


def chat_of(office: Office, answer: Any) -> tuple[Any, ...]:
    """chat_id, kind, holder and mode of the chat a question was asked in."""
    return office.rows(
        "SELECT chat_id, kind, holder, mode FROM chats "
        "WHERE chat_id = (SELECT chat_id FROM calls WHERE call_id = ?)",
        answer.call_id,
    )[0]


# ── one conversation, continued ──────────────────────────────────────────────────────────────


def test_a_question_is_a_call_in_a_conversation(office: Office, golden: Any) -> None:
    assert golden == office.call(ASK, "laptop", **SCOUT)


def test_a_question_after_another_waits_behind_it(office: Office, golden: Any) -> None:
    office.asked()
    exchange = office.call(ASK, "laptop", target="Scout", message="And now?")
    assert golden == exchange


def test_an_account_continues_its_conversation_with_a_target(office: Office) -> None:
    first, second = office.asked("laptop"), office.asked("worker")
    person = office.asked("person:ada")
    assert first.inbox_id == second.inbox_id == person.inbox_id
    assert len({chat_of(office, each) for each in (first, second, person)}) == 1
    assert chat_of(office, first)[1:] == ("caller", "account:acc_ada", "builder")


def test_other_accounts_named_agents_and_targets_have_conversations_of_their_own(
    office: Office,
) -> None:
    made = [
        office.asked("laptop", target="Pipeline"),
        office.asked("bob", target="Pipeline"),
        office.asked("worker", target="Pipeline", agent_name="Worker"),
        office.asked("laptop", target="Depot"),
    ]
    assert len({each.inbox_id for each in made}) == 4
    holders = [chat_of(office, each)[2:] for each in made]
    assert holders == [
        ("account:acc_ada", "builder"),
        ("account:acc_bob", "run"),
        ("registration:reg_worker", "builder"),
        ("account:acc_ada", "run"),
    ]
    assert [each.caller for each in made] == ["laptop", "bob's laptop", "agent:worker", "laptop"]


def test_a_new_conversation_leaves_the_old_one_behind(office: Office) -> None:
    first = office.asked()
    fresh = office.asked("laptop", "Anew?", new_conversation=True)
    after = office.asked()
    assert first.inbox_id != fresh.inbox_id == after.inbox_id
    assert (fresh.queued_behind, after.queued_behind) == (0, 1)
    assert chat_of(office, first)[2] is None


def test_a_conversation_that_was_removed_goes_on_in_the_same_chat(office: Office) -> None:
    first = office.asked()
    office.now += (limits.INBOX_IDLE_DAYS_MAX + 1) * DAY
    office.asked("bob", target="Pipeline")  # a new conversation sweeps the idle ones
    again = office.asked()
    assert first.inbox_id != again.inbox_id
    assert chat_of(office, first) == chat_of(office, again)


def test_a_role_that_changes_changes_the_mode_of_the_next_turns(office: Office) -> None:
    first = office.asked("bob", target="Pipeline")
    office.change("UPDATE members SET role = 'editor' WHERE account_id = 'acc_bob'")
    office.asked("bob", target="Pipeline")
    assert chat_of(office, first)[3] == "builder"


def test_the_answer_is_the_calls_and_is_copied_into_no_inbox(office: Office) -> None:
    asked = office.asked()
    office.end(asked.call_id, "answered", answer="All is well.")
    page = office.answer(READ, "laptop", inbox_id=asked.inbox_id)
    assert page.messages == []
    kept = office.rows("SELECT body, by_opener, sent_by FROM messages")
    assert kept == [("What is up?", 1, "conn_laptop")]


def test_waiting_for_an_answer_ends_with_it(office: Office) -> None:
    async def scene() -> Any:
        answer = waiting(office, ASK, "laptop", **SCOUT)
        await asleep(office)
        await office.store.transact(begins("call_1"))
        await asleep(office)
        assert not answer.done()
        await office.store.transact(ends("call_1", answer="All is well."))
        return await soon(answer)

    assert office.run(scene()).answer == "All is well."


def test_waiting_for_an_answer_ends_with_a_question(office: Office) -> None:
    async def scene() -> Any:
        answer = waiting(office, ASK, "laptop", **SCOUT)
        await asleep(office)
        await office.store.transact(begins("call_1"))
        await office.store.transact(asks("call_1", "Which one?"))
        return await soon(answer)

    assert [each.question for each in office.run(scene()).pending_inputs] == ["Which one?"]


# ── between agents ───────────────────────────────────────────────────────────────────────────


def test_a_crew_asks_another_of_its_owner_in_that_crews_own_chat(office: Office) -> None:
    scout, tower = office.acts("scout", "crew-scout"), office.acts("tower", "crew-tower")
    first, second = office.asked(scout, target="Mill"), office.asked(tower, target="Mill")
    again = office.asked(scout, target="Mill")
    assert chat_of(office, first)[1:] == ("own", "own", "builder")
    assert chat_of(office, first) == chat_of(office, second)
    assert (first.queued_behind, second.queued_behind, again.queued_behind) == (0, 1, 2)
    assert first.inbox_id == again.inbox_id != second.inbox_id
    assert first.caller == "Scout"


def test_a_crew_asks_one_of_another_owner_in_a_conversation_per_crew_and_person(
    office: Office,
) -> None:
    for_ada = office.acts("scout", "crew-scout")
    office.change("INSERT INTO members VALUES ('crew-scout', 'acc_bob', 'runner')")
    for_bob = office.acts(
        "guest", "crew-scout", account_id="acc_bob", account_name="bob", chat_id="chat_of_bob"
    )
    one, two = office.asked(for_ada, target="Depot"), office.asked(for_bob, target="Depot")
    assert chat_of(office, one)[1:3] == ("caller", "crew:crew-scout account:acc_ada")
    assert chat_of(office, two)[1:3] == ("caller", "crew:crew-scout account:acc_bob")


def test_a_guests_conversation_does_not_reach_into_an_owners_chat(office: Office) -> None:
    office.change("INSERT INTO members VALUES ('crew-scout', 'acc_bob', 'runner')")
    guest = office.acts("guest", "crew-scout", account_id="acc_bob", account_name="bob")
    asked = office.asked(guest, target="Pipeline")
    assert chat_of(office, asked)[1:] == (
        "caller",
        "crew:crew-scout account:acc_bob",
        "run",
    )


def test_an_agents_own_chat_is_not_begun_afresh_by_another(office: Office, golden: Any) -> None:
    scout = office.acts("scout", "crew-scout")
    exchange = office.call(ASK, scout, target="Mill", message="Hi", new_conversation=True)
    assert golden == exchange
    assert office.answer(ASK, scout, **exchange["answer"]["try"]).call_id


def test_an_agent_inside_asks_as_itself(office: Office, golden: Any) -> None:
    scout = office.acts("scout", "crew-scout")
    assert golden == office.call(ASK, scout, target="Mill", message="Hi", agent_name="worker")


def test_a_chain_of_questions_ends_like_a_chain_of_calls(office: Office, golden: Any) -> None:
    first = office.asked()
    second = office.asked(office.acts("scout", "crew-scout", first.call_id), target="Mill")
    mill = office.acts("mill", "crew-mill", second.call_id)
    assert golden == office.call(ASK, mill, **SCOUT)


def test_an_agents_chat_in_run_mode_asks_nobody(office: Office) -> None:
    scout = office.acts("scout", "crew-scout", kind=CallerKind.CREW_RUN)
    assert office.answer(ASK, scout, target="Mill", message="Hi").code == "not_permitted"


# ── what is refused ──────────────────────────────────────────────────────────────────────────


def test_an_agent_that_takes_no_messages_is_asked_by_persons_only(
    office: Office, golden: Any
) -> None:
    assert golden == office.call(ASK, "laptop", target="Quiet", message="Hi")
    scout = office.acts("scout", "crew-scout")
    assert office.answer(ASK, scout, target="Quiet", message="Hi").code == "messaging_off"
    assert office.asked("person:ada", target="Quiet").call_id


def test_nothing_answers_for_an_agent_without_a_runtime(office: Office, golden: Any) -> None:
    assert golden == office.call(ASK, "laptop", target="Idle", message="Hi")


def test_an_unknown_target_is_refused_with_the_nearest(office: Office, golden: Any) -> None:
    assert golden == office.call(ASK, "laptop", target="Scou", message="Hi", wait_seconds=5)


def test_a_name_of_several_agents_is_refused_with_all_of_them(office: Office, golden: Any) -> None:
    assert golden == office.call(ASK, "laptop", target="Latency", message="Hi")


def test_a_reader_may_not_ask(office: Office) -> None:
    assert office.answer(ASK, "cleo", target="Pipeline", message="Hi").code == "not_permitted"


def test_a_code_agent_and_a_relay_have_no_conversation(office: Office) -> None:
    office.change(
        "INSERT INTO agents (agent_id, kind, account_id, name, name_key, about, made_at, "
        "changed_at) VALUES ('relay_1', 'relay', 'acc_ada', 'Sums', 'sums', '', 0, 0)"
    )
    for target in ("Desk", "Sums"):
        assert office.answer(ASK, "laptop", target=target, message="Hi").code == "not_permitted"


def test_a_guests_conversation_asks_nobody(office: Office) -> None:
    guest = office.acts("scout", "crew-scout", replies_only=True)
    assert office.answer(ASK, guest, target="Mill", message="Hi").code == "not_permitted"


def test_a_name_that_is_not_yours_is_refused(office: Office) -> None:
    answer = office.answer(ASK, "laptop", **SCOUT, agent_name="reviewer")
    assert answer.code == "not_permitted"
    assert office.answer(ASK, "laptop", **SCOUT, agent_name="nobody").code == "not_found"


def test_a_question_counts_as_a_message_of_the_hour(office: Office, golden: Any) -> None:
    for _ in range(limits.MESSAGES_PER_HOUR_MAX):
        office.asked()
    assert golden == office.call(ASK, "laptop", **SCOUT)
    office.now += HOUR
    office.asked()


def test_a_question_into_a_full_inbox_is_refused(
    office: Office, golden: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MESSAGES_PER_INBOX_MAX", 1)
    office.asked()
    office.change("UPDATE messages SET delivery = 'pending'")
    assert golden == office.call(ASK, "laptop", **SCOUT)


def test_an_empty_message_is_refused(office: Office) -> None:
    answer = office.answer(ASK, "laptop", target="Scout", message="")
    assert answer.problems == ["message must not be empty"]


def test_a_question_takes_no_slot(office: Office) -> None:
    for _ in range(limits.CREW_CALLS_RUNNING_MAX + 1):
        office.asked()
    office.called("laptop", "look", target="Scout")
