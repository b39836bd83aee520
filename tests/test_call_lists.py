"""Lists of calls: whose they are, in which order, and page by page."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.calls import LIST
from agentworks.rules import limits
from tests import calling
from tests.calling import Office

an_office = calling.an_office


def listed(office: Office, name: str = "laptop", /, **args: Any) -> list[str]:
    return [each.call_id for each in office.answer(LIST, name, **args).calls]


def test_calls_are_listed_newest_first(office: Office, golden: Any) -> None:
    office.called("bob")
    office.now += 1_000
    office.end(office.called("laptop", "look", target="Scout"), "completed")
    office.now += 1_000
    office.asked()
    assert golden == office.call(LIST, "laptop")


def test_a_list_holds_what_one_made_and_what_was_asked_of_ones_own_agents(office: Office) -> None:
    of_bob = office.called("bob")
    own = office.called("laptop", "fetch", target="Depot", args={"PART": "x"})
    assert listed(office) == [own, of_bob]
    assert listed(office, "bob") == [own, of_bob]
    assert listed(office, "dora") == listed(office, "cleo") == []


def test_a_list_of_one_target_holds_all_of_it_for_its_editors_only(office: Office) -> None:
    of_bob, own = office.called("bob"), office.called()
    office.called("laptop", "look", target="Scout")
    assert listed(office, "dora", target="Pipeline") == [own, of_bob]
    assert listed(office, "laptop", target="pipeline") == [own, of_bob]
    assert listed(office, "bob", target="Pipeline") == [of_bob]
    assert listed(office, "cleo", target="Pipeline") == []
    assert office.answer(LIST, "cleo", target="Scout").code == "not_found"


def test_an_agent_lists_what_its_conversation_has_called(office: Office) -> None:
    scout = office.acts("scout", "crew-scout")
    own = office.called(scout)
    office.called()
    assert listed(office, scout) == [own]


def test_a_list_within_bounds_holds_only_what_is_there(office: Office) -> None:
    inside = office.called("laptop", "look", target="Scout")
    office.called()
    assert listed(office, "narrow") == [inside]


def test_pages_follow_one_another_without_gap_or_repetition(office: Office) -> None:
    made = []
    for number in range(7):
        made.append(office.called("bob" if number % 2 else "laptop"))
        office.change("UPDATE calls SET holds_slot = 0")
        office.now += number % 3  # some at the same moment
    found: list[str] = []
    before: dict[str, Any] = {}
    for _ in range(4):
        page = office.answer(LIST, "laptop", limit=2, **before)
        found += [each.call_id for each in page.calls]
        before = {"before": page.next_before}
    assert sorted(found) == sorted(made) and page.next_before is None


def test_a_rare_state_is_looked_for_in_bounded_steps(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CALLS_SCANNED_MAX", 3)
    failed = office.called()
    office.end(failed, "failed", reason="no")
    for _ in range(5):
        office.called()
        office.change("UPDATE calls SET holds_slot = 0")
        office.now += 1
    first = office.answer(LIST, "laptop", state="failed")
    assert first.calls == [] and first.next_before
    second = office.answer(LIST, "laptop", state="failed", before=first.next_before)
    assert [each.call_id for each in second.calls] == [failed]


def test_a_list_of_an_unknown_target_is_refused(office: Office, golden: Any) -> None:
    assert golden == office.call(LIST, "laptop", target="Vault")


def test_a_list_of_a_target_with_many_names_is_refused(office: Office, golden: Any) -> None:
    assert golden == office.call(LIST, "laptop", target="Latency")


def test_a_list_wants_a_state_there_is_and_a_page_it_gave(office: Office, golden: Any) -> None:
    assert golden == office.call(LIST, "laptop", state="done", before="call_1")


def test_a_page_holds_at_most_a_hundred(office: Office) -> None:
    office.change(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 150) "
        "INSERT INTO chats SELECT 'c' || n, 'crew-scout', 'run', 'call', NULL, '', NULL, 0, 0 "
        "FROM n"
    )
    office.change(
        "INSERT INTO calls (call_id, agent_id, owner_id, kind, function, chat_id, account_id, "
        "caller_kind, caller_id, caller_name, chain, holds_slot, accepted_at, sign_at) "
        "SELECT chat_id, 'crew-scout', 'acc_ada', 'function', 'look', chat_id, 'acc_ada', "
        "'connection', 'conn_laptop', 'laptop', '[]', 0, 1, 1 FROM chats"
    )
    page = office.answer(LIST, "laptop", limit=1_000)
    assert len(page.calls) == limits.CALLS_PER_PAGE_MAX and page.next_before
