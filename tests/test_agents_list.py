"""Who is there, what each can do, and who is busy: agents.list."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts import agents, functions
from agentworks.contracts.agents import AgentLine
from agentworks.contracts.refusal import Input
from agentworks.rules import listings
from agentworks.store import Transaction
from agentworks.tables import chats, turns
from tests import office
from tests.conftest import World

REVIEWER = "11111111-1111-4111-8111-111111111111"
NOTES = "22222222-2222-4222-8222-222222222222"


a_world = office.a_world


def listed(world: World, name: str = "ada", **args: Any) -> list[AgentLine]:
    found: list[AgentLine] = world.answer(agents.LIST, name, **args).agents
    return found


def names(world: World, name: str = "ada", **args: Any) -> list[str]:
    return [each.name for each in listed(world, name, **args)]


def line_of(world: World, agent: str, name: str = "ada") -> AgentLine:
    (found,) = (each for each in listed(world, name) if each.name == agent)
    return found


def call(world: World, name: str, function: str, **args: Any) -> None:
    """A call that runs, as far as the rows know."""
    asked = {"target": "PR Reviewer", "function": function, "args": args}
    assert world.answer(functions.CALL, name, **asked).__class__.__name__ == "Working"
    started(world)


def started(world: World) -> None:
    """Every turn that is queued, in the order in which they were."""
    world.now += 1_000
    world.transact(
        lambda tx: tx.run(
            "UPDATE turns SET state = 'running', started_at = :now WHERE state = 'queued'",
            now=tx.now,
        )
    )


def written_to(world: World, agent_id: str) -> None:
    """A turn that takes up messages runs."""

    def begin(tx: Transaction) -> None:
        chat_id = chats.begin(tx, agent_id, "run", "messages", None, "")
        turns.queue(tx, chat_id, "messages", None, "")

    world.transact(begin)
    started(world)


# ── who is shown ─────────────────────────────────────────────────────────────────────────────


def test_a_list_shows_what_is_needed_to_choose(world: World, golden: Any) -> None:
    assert golden == world.call(agents.LIST, "ada")


def test_agents_come_by_name_those_of_others_among_ones_own(world: World) -> None:
    assert names(world) == ["Desk", "Latency", "LATENCY!", "PR Reviewer", "Release Notes"]


def test_others_see_what_they_have_a_role_on(world: World, golden: Any) -> None:
    assert golden == world.call(agents.LIST, "bob")


def test_who_has_a_role_on_nothing_sees_nothing(world: World, golden: Any) -> None:
    assert golden == world.call(agents.LIST, "mallory")


def test_a_bound_connection_sees_its_own_alone(world: World) -> None:
    assert names(world, "narrow") == ["PR Reviewer"]


def test_a_connection_that_may_not_run_may_only_look(world: World) -> None:
    answer = world.answer(agents.LIST, "watcher")
    assert {each.can for each in answer.agents} == {"read only"}
    assert answer.next == "this caller may only look: no ask, no call"


def test_a_reader_may_only_look_and_a_runner_may_run(world: World) -> None:
    assert line_of(world, "Release Notes", "bob").can == "read only"
    assert line_of(world, "PR Reviewer", "bob").can == ""


def test_a_code_agent_is_shown_to_its_owner_and_can_be_looked_at_only(world: World) -> None:
    assert line_of(world, "Desk").can == "read only"
    assert "Desk" not in names(world, "bob") + names(world, "cleo")


# ── what is shown of each ────────────────────────────────────────────────────────────────────


def test_functions_are_signatures_without_what_has_a_default(world: World) -> None:
    assert line_of(world, "PR Reviewer").functions == [
        "review_pr(PR_NUMBER: int, GROUP?: staging|prod)",
        "merge_pr(PR_NUMBER: int)",
    ]


def test_beyond_three_functions_the_rest_is_counted(world: World) -> None:
    assert line_of(world, "Release Notes").functions == [
        "draft(VERSION: str)",
        "publish()",
        "retract()",
        "+1 more",
    ]


def test_functions_that_do_not_admit_a_caller_are_not_shown_to_it(world: World) -> None:
    shown = line_of(world, "PR Reviewer", "bob").functions
    assert shown == ["review_pr(PR_NUMBER: int, GROUP?: staging|prod)"]


def test_about_is_cut_at_120_characters_and_stands_on_one_line(world: World) -> None:
    about = "Two\n  lines. " + "x" * 500
    world.transact(lambda tx: tx.run("UPDATE agents SET about = :about", about=about))
    shown = line_of(world, "Latency").about
    assert len(shown) == 120
    assert shown.startswith("Two lines. xxx")
    assert shown.endswith("x…")


def test_a_long_signature_is_cut(world: World) -> None:
    inputs = [Input(name=f"INPUT_{n}", type="string", required=True) for n in range(64)]
    (shown,) = listings.signatures_shown([("f", inputs)])
    assert len(shown) == 160
    assert shown.endswith("…")


def test_paths_prompts_files_and_settings_are_never_shown(world: World) -> None:
    shown = str(listed(world) + listed(world, "bob"))
    for private in (
        "review code",
        "Read the diff",
        "knowledge",
        "scripted",
        "Reviewed.",
        "nightly",
    ):
        assert private not in shown


# ── who is busy ──────────────────────────────────────────────────────────────────────────────


def test_a_running_call_is_shown_with_what_it_is_about(world: World) -> None:
    call(world, "bob", "review_pr", PR_NUMBER=151, GROUP="prod")
    assert line_of(world, "PR Reviewer").busy == "review_pr for PR_NUMBER 151"
    assert line_of(world, "PR Reviewer", "bob").busy == "review_pr for PR_NUMBER 151"


def test_what_a_call_of_somebody_else_is_about_is_not_shown(world: World) -> None:
    call(world, "ada", "review_pr", PR_NUMBER=151)
    assert line_of(world, "PR Reviewer", "bob").busy == "review_pr"
    assert line_of(world, "PR Reviewer", "cleo").busy == "review_pr"


def test_a_function_that_does_not_admit_a_caller_is_a_call_to_it(world: World) -> None:
    call(world, "ada", "merge_pr", PR_NUMBER=151)
    assert line_of(world, "PR Reviewer", "bob").busy == "a call"


def test_questions_and_messages_are_named_as_such(world: World) -> None:
    world.answer(agents.ASK, "bob", target="PR Reviewer", message="Are you there?")
    written_to(world, NOTES)
    assert line_of(world, "PR Reviewer").busy == "a question"
    assert line_of(world, "Release Notes").busy == "messages"


def test_of_several_the_longest_is_shown_and_the_rest_counted(world: World) -> None:
    call(world, "bob", "review_pr", PR_NUMBER=1)
    call(world, "bob", "review_pr", PR_NUMBER=2)
    written_to(world, REVIEWER)
    assert line_of(world, "PR Reviewer").busy == "review_pr for PR_NUMBER 1 and 2 more"


def test_whoever_is_idle_is_not_busy(world: World) -> None:
    written_to(world, REVIEWER)
    world.transact(lambda tx: tx.run("UPDATE turns SET state = 'ended', ended_at = 1"))
    assert line_of(world, "PR Reviewer").busy == ""


# ── searching and paging ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("pr-reviewer", ["PR Reviewer"]),
        ("REVIEWER", ["PR Reviewer"]),
        ("requests", ["Latency", "PR Reviewer"]),
        ("pull findings", ["PR Reviewer"]),
        ("retract", ["Release Notes"]),
        ("latency", ["Latency", "LATENCY!"]),
        ("  ", ["Desk", "Latency", "LATENCY!", "PR Reviewer", "Release Notes"]),
        ("zebra", []),
        ("%", []),
    ],
)
def test_a_search_looks_at_names_descriptions_and_functions(
    world: World, query: str, found: list[str]
) -> None:
    assert names(world, query=query) == found


def test_a_search_finds_no_function_that_does_not_admit_the_caller(world: World) -> None:
    assert names(world, query="merge_pr") == ["PR Reviewer"]
    assert names(world, "bob", query="merge_pr") == []


def test_only_agents_of_one_kind_are_shown_when_asked_for(world: World) -> None:
    assert names(world, kind="code") == ["Desk"]
    assert "Desk" not in names(world, kind="crew")


def test_pages_put_together_are_the_list(world: World) -> None:
    every, pages, offset = names(world), list[str](), 0
    while True:
        answer = world.answer(agents.LIST, "ada", limit=2, offset=offset)
        pages += [each.name for each in answer.agents]
        offset += 2
        if not answer.more:
            break
        assert answer.next.startswith(f"offset={offset} shows more. ")
    assert pages == every


def test_a_page_holds_100_agents_at_most(world: World) -> None:
    def many(tx: Transaction) -> None:
        for number in range(120):
            tx.run(
                "INSERT INTO agents (agent_id, kind, account_id, name, name_key, about, made_at, "
                "changed_at) VALUES (:id, 'crew', 'acc_ada', :name, :name, '', 0, 0)",
                id=f"crew-{number:03}",
                name=f"many{number:03}",
            )

    world.transact(many)
    answer = world.answer(agents.LIST, "ada", limit=5_000)
    assert len(answer.agents) == 100
    assert answer.more
