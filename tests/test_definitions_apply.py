"""Saving a definition: whole or not at all, every problem at once, and again without a change."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from agentworks.contracts import crews, functions
from agentworks.contracts.crews import Applied
from agentworks.rules import limits
from tests import office
from tests.conftest import World
from tests.office import (
    COMMAND,
    NOTES,
    REVIEWER,
    SCRIPTED,
    apply,
    crew,
    definition,
    exported,
    file,
    full,
    problems,
    rows,
)

a_world = office.a_world


def changed(applied: Applied) -> dict[str, tuple[str | None, str | None]]:
    return {each.what: (each.was, each.becomes) for each in applied.changes}


# ── a new agent ──────────────────────────────────────────────────────────────────────────────


def test_a_new_crew_belongs_to_whoever_applied_it(world: World, golden: Any) -> None:
    assert golden == world.call(crews.APPLY, "bob", definition=crew(runtime=SCRIPTED))
    view = world.answer(crews.GET, "bob", target="Helpdesk")
    assert (view.owner, view.role, view.kind) == ("bob", "owner", "crew")


def test_crews_are_uuids_and_code_agents_are_not(world: World) -> None:
    assert apply(world, "ada", crew()).agent_id == "00000000-0000-4000-8000-000000000001"
    assert apply(world, "ada", crew("Bench", kind="code")).agent_id == "code_1"


def test_what_was_applied_is_what_is_exported(world: World) -> None:
    apply(world, "ada", full())
    assert definition(world, "ada", "Helpdesk") == full() | {
        "triggers": [
            {"id": "daily", "conversation": "fresh"},
            {"id": "weekly", "conversation": "own"},
        ]
    }


def test_what_was_exported_applies_without_a_change(world: World) -> None:
    apply(
        world,
        "ada",
        full(),
        files=[file("notes.md", "Hi"), file("blob", "/w==", encoding="base64")],
    )
    taken = msgspec.to_builtins(exported(world, "ada", "Helpdesk"))
    answer = apply(world, "ada", taken["definition"], files=taken["files"])
    assert (answer.changes, answer.saved, answer.created) == ([], False, False)


def test_a_definition_applied_twice_changes_nothing(world: World, golden: Any) -> None:
    apply(world, "ada", full())
    before = rows(world)
    world.now += 1_000
    assert golden == world.call(crews.APPLY, "ada", definition=full())
    assert rows(world) == before


def test_a_dry_run_tells_and_saves_nothing(world: World, golden: Any) -> None:
    before = rows(world)
    assert golden == world.call(crews.APPLY, "ada", definition=full(), dry_run=True)
    assert rows(world) == before


# ── a changed one ────────────────────────────────────────────────────────────────────────────


def test_each_difference_is_told_by_its_place(world: World) -> None:
    apply(world, "ada", full(), files=[file("a.md", "one"), file("b.md", "two")])
    new = full()
    new |= {"about": "Answers.", "messaging": True, "members": {"bob": "editor"}}
    new["functions"][0]["inputs"][0]["examples"] = ["wifi"]
    del new["functions"][1]
    new["functions"].append({"name": "close", "description": "Close it."})
    new["triggers"] = [{"id": "daily", "conversation": "own"}]
    answer = apply(world, "ada", new, files=[file("a.md", "1"), file("c.md", "three")])
    assert changed(answer) == {
        "about": ("Answers what people ask.", "Answers."),
        "messaging": ("false", "true"),
        "members.bob": ("runner", "editor"),
        "members.cleo": ("editor", None),
        "functions.lookup.inputs.QUERY.examples": ('["vpn"]', '["wifi"]'),
        "functions.escalate": ('{"name": "escalate"}', None),
        "functions.close": (None, '{"name": "close", "description": "Close it."}'),
        "triggers.weekly": ('{"id": "weekly", "conversation": "own"}', None),
        "triggers.daily.conversation": ("fresh", "own"),
        "files/a.md": ("3 bytes (7692c3ad)", "1 bytes (6b86b273)"),
        "files/b.md": ("3 bytes (3fc4ccfe)", None),
        "files/c.md": (None, "5 bytes (8b5b9db0)"),
    }
    del new["messaging"]  # its default now
    assert definition(world, "ada", "Helpdesk") == new


def test_a_new_order_of_functions_is_a_difference(world: World) -> None:
    apply(world, "ada", full())
    new = full()
    new["functions"].reverse()
    assert changed(apply(world, "ada", new)) == {
        "functions, their order": ("lookup, escalate", "escalate, lookup")
    }
    assert definition(world, "ada", "Helpdesk")["functions"] == new["functions"]


def test_true_and_one_are_not_the_same(world: World) -> None:
    one = crew(functions=[{"name": "f", "result_schema": {"const": 1}}])
    apply(world, "ada", one)
    one["functions"][0]["result_schema"] = {"const": True}
    assert changed(apply(world, "ada", one)) == {"functions.f.result_schema.const": ("1", "true")}


def test_files_that_are_left_out_stay(world: World) -> None:
    apply(world, "ada", full(), files=[file("a.md", "one")])
    assert apply(world, "ada", full()).changes == []
    assert changed(apply(world, "ada", full(), files=[])) == {
        "files/a.md": ("3 bytes (7692c3ad)", None)
    }


def test_a_name_spelled_another_way_is_the_same_agent(world: World) -> None:
    first = apply(world, "ada", crew("Help Desk"))
    again = apply(world, "ada", crew("help-desk"))
    assert again.agent_id == first.agent_id
    assert changed(again) == {"name": ("Help Desk", "help-desk")}


def test_a_target_is_changed_whatever_its_name_was(world: World) -> None:
    first = apply(world, "ada", crew("Help Desk"))
    renamed = apply(world, "ada", crew("Front Office"), target="help desk")
    assert (renamed.agent_id, renamed.created) == (first.agent_id, False)
    assert world.answer(crews.GET, "ada", target="Front Office").agent_id == first.agent_id


def test_an_unknown_target_is_refused(world: World, golden: Any) -> None:
    assert golden == world.call(crews.APPLY, "ada", definition=crew(), target="Nobody")


def test_an_ambiguous_target_is_refused(world: World, golden: Any) -> None:
    assert golden == world.call(crews.APPLY, "ada", definition=crew(), target="latency")


def test_the_same_name_under_two_owners_is_two_agents(world: World) -> None:
    adas, bobs = apply(world, "ada", crew()), apply(world, "bob", crew())
    assert adas.agent_id != bobs.agent_id


def test_a_shared_agent_is_changed_only_when_it_is_named(world: World) -> None:
    made = apply(world, "cleo", crew("PR Reviewer"))
    assert made.created
    assert made.agent_id != REVIEWER


# ── who may ──────────────────────────────────────────────────────────────────────────────────


def test_an_editor_may_change_what_an_agent_says_and_does(world: World) -> None:
    new = definition(world, "cleo", "PR Reviewer")
    new |= {"about": "Reviews.", "instructions": "Be strict.", "idle_minutes": 30}
    new |= {"runtime": SCRIPTED, "triggers": []}
    new["functions"] = new["functions"][:1]
    answer = apply(world, "cleo", new, target="PR Reviewer", files=[file("new.md", "x")])
    assert answer.agent_id == REVIEWER
    assert answer.saved


def test_only_an_owner_may_change_members_messaging_and_programs(world: World, golden: Any) -> None:
    new = definition(world, "cleo", "PR Reviewer")
    new |= {"members": {}, "messaging": False, "runtime": COMMAND}
    before = rows(world)
    assert golden == world.call(
        crews.APPLY, "cleo", definition=new, target="PR Reviewer", files=[file("review.py", "x")]
    )
    assert rows(world) == before


def test_an_editor_may_leave_programs_as_they_are(world: World) -> None:
    owned = definition(world, "ada", "PR Reviewer") | {"runtime": COMMAND}
    apply(world, "ada", owned, files=[file("review.py", "print(1)")])
    assert apply(world, "cleo", owned | {"about": "New."}, target="PR Reviewer").saved
    kept = [file("review.py", "print(1)")]
    assert apply(world, "cleo", owned, target="PR Reviewer", files=kept).saved
    changed_file = [file("review.py", "print(2)")]
    assert problems(world, "cleo", owned, target="PR Reviewer", files=changed_file) == [
        "files: only an owner may change them while PR Reviewer starts programs"
    ]


def test_a_member_with_the_owner_role_may_change_everything(world: World) -> None:
    world.transact(lambda tx: tx.run("UPDATE members SET role = 'owner'"))
    new = definition(world, "cleo", "PR Reviewer") | {"runtime": COMMAND, "messaging": False}
    new["members"] = {"cleo": "owner"}
    assert apply(world, "cleo", new, target="PR Reviewer").saved


def test_a_runner_may_not_change_a_definition(world: World) -> None:
    answer = world.answer(crews.APPLY, "bob", definition=crew(), target="PR Reviewer")
    assert answer.code == "not_permitted"


def test_a_bound_connection_changes_its_own_and_makes_no_new_ones(world: World) -> None:
    own = definition(world, "narrow", "PR Reviewer")
    assert apply(world, "narrow", own | {"about": "Bound."}).agent_id == REVIEWER
    for name in ("Helpdesk", "Release Notes"):
        answer = world.answer(crews.APPLY, "narrow", definition=crew(name))
        assert answer.code == "not_permitted"
    assert world.answer(crews.APPLY, "narrow", definition=crew(), target=NOTES).code == "not_found"


def test_an_account_has_so_many_agents_and_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "AGENTS_PER_ACCOUNT_MAX", 5)
    apply(world, "ada", crew())
    answer = world.answer(crews.APPLY, "ada", definition=crew("One more"))
    assert answer.code == "not_permitted"
    assert apply(world, "ada", crew(about="It is there already.")).saved


# ── accepted calls ───────────────────────────────────────────────────────────────────────────


def test_a_changed_function_does_not_touch_accepted_calls(world: World) -> None:
    asked = {"target": "PR Reviewer", "function": "review_pr", "args": {"PR_NUMBER": 7}}
    accepted = world.answer(functions.CALL, "bob", **asked)
    kept = rows(world, "calls", "turns")
    new = copy.deepcopy(definition(world, "ada", "PR Reviewer"))
    new["functions"] = [{"name": "other"}]
    apply(world, "ada", new)
    assert rows(world, "calls", "turns") == kept
    assert accepted.call_id in str(kept)
