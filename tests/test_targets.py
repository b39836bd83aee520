"""A name or an id becomes an agent: what matches, what is refused, and what stays unseen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agentworks import clock, targets
from agentworks.contracts.crews import GET
from agentworks.contracts.definitions import Role
from agentworks.contracts.refusal import Refuse, Refused
from agentworks.rules.names import name_key, name_problems, near
from agentworks.targets import Target
from tests import office
from tests.conftest import World

REVIEWER = "11111111-1111-4111-8111-111111111111"
ADAS_LATENCY = "33333333-3333-4333-8333-333333333333"
BOBS_LATENCY = "44444444-4444-4444-8444-444444444444"
VAULT = "55555555-5555-4555-8555-555555555555"


a_world = office.a_world


def find(world: World, name: str, target: str, needs: Role = "reader") -> Target | Refused:
    try:
        found, _ = world.store.read(lambda db: targets.find(db, world.who(name)(db), target, needs))
        return found
    except Refuse as refusal:
        return refusal.refused


def found(world: World, name: str, target: str, needs: Role = "reader") -> tuple[str, str]:
    """The id and the role it was found with."""
    target_found = find(world, name, target, needs)
    assert isinstance(target_found, Target), target_found
    return target_found.agent.agent_id, target_found.role


def refused(world: World, name: str, target: str, needs: Role = "reader") -> Refused:
    not_found = find(world, name, target, needs)
    assert isinstance(not_found, Refused), not_found
    return not_found


# ── what matches ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "target",
    ["PR Reviewer", "pr reviewer", "pr-reviewer", "PRREVIEWER", " p.r_reviewer! ", REVIEWER],
)
def test_case_and_punctuation_do_not_matter(world: World, target: str) -> None:
    assert found(world, "ada", target) == (REVIEWER, "owner")


def test_an_id_is_one_in_either_case(world: World) -> None:
    given_id = "abcdef00-0000-4000-8000-00000000000a"
    world.transact(
        lambda tx: tx.run(
            "UPDATE agents SET agent_id = :new WHERE agent_id = :old", new=given_id, old=VAULT
        )
    )
    assert found(world, "bob", given_id.upper()) == (given_id, "owner")


def test_the_role_is_the_one_that_was_given(world: World) -> None:
    assert found(world, "bob", "PR Reviewer") == (REVIEWER, "runner")
    assert found(world, "cleo", "PR Reviewer", "editor") == (REVIEWER, "editor")


def test_a_role_too_low_is_not_permitted_and_says_which_is_needed(world: World) -> None:
    answer = refused(world, "bob", "PR Reviewer", "owner")
    assert answer.code == "not_permitted"
    assert answer.problems == [
        "this needs the role owner on PR Reviewer, and you have the role runner; its owner can "
        "change that"
    ]


# ── several ──────────────────────────────────────────────────────────────────────────────────


def test_a_name_of_several_agents_is_refused_with_all_of_them(world: World, golden: Any) -> None:
    assert golden == world.call(GET, "ada", target="latency")


def test_one_of_several_is_meant_by_its_id(world: World) -> None:
    assert found(world, "ada", BOBS_LATENCY, "runner") == (BOBS_LATENCY, "runner")
    assert found(world, "ada", ADAS_LATENCY, "runner") == (ADAS_LATENCY, "owner")


def test_a_name_is_not_ambiguous_for_those_who_see_one_agent_of_it(world: World) -> None:
    assert found(world, "bob", "latency") == (BOBS_LATENCY, "owner")


# ── unknown and unseen ───────────────────────────────────────────────────────────────────────


def test_an_unknown_name_is_refused_with_the_nearest_and_a_call_that_works(
    world: World, golden: Any
) -> None:
    assert golden == world.call(GET, "ada", target="PR Reviwer")


def test_an_agent_of_somebody_else_does_not_exist_by_name_or_id(world: World) -> None:
    for target in ("Vault", VAULT):
        stranger = refused(world, "ada", target)
        nobody = refused(world, "ada", "Vau1t" if target == "Vault" else VAULT[:-1] + "6")
        assert stranger.code == nobody.code == "not_found"
        assert stranger.problems[0].partition(";")[2] == nobody.problems[0].partition(";")[2]


def test_near_names_are_those_the_caller_could_use(world: World) -> None:
    assert "PR Reviewer" not in refused(world, "mallory", "PR Reviewr").problems[0]
    assert "Release Notes" in refused(world, "bob", "Release Note").problems[0]
    assert "Release Notes" not in refused(world, "bob", "Release Note", "runner").problems[0]


def test_a_connection_bound_to_one_agent_sees_no_other(world: World) -> None:
    assert found(world, "narrow", "PR Reviewer") == (REVIEWER, "owner")
    assert refused(world, "narrow", "Release Notes").code == "not_found"
    assert refused(world, "narrow", ADAS_LATENCY).code == "not_found"
    assert "Release Notes" not in refused(world, "narrow", "Release Note").problems[0]


def test_a_role_taken_away_ends_the_sight_of_it(world: World) -> None:
    world.transact(lambda tx: tx.run("DELETE FROM members"))
    assert refused(world, "bob", "PR Reviewer").code == "not_found"


@pytest.mark.parametrize("target", ["", " ", "!?", "\0", "\ud800", "a" * 10_000, "%", "'; --"])
def test_a_target_may_be_anything_at_all(world: World, target: str) -> None:
    assert refused(world, "ada", target).code == "not_found"


# ── code agents ──────────────────────────────────────────────────────────────────────────────


def test_a_code_agent_is_its_owners_to_see_and_nobodys_to_call(world: World) -> None:
    assert found(world, "ada", "desk") == ("code_desk", "owner")
    answer = refused(world, "ada", "desk", "runner")
    assert answer.code == "not_permitted"
    assert "code agent" in answer.problems[0]


def test_a_role_on_a_code_agent_would_show_nothing(world: World) -> None:
    world.transact(
        lambda tx: tx.run("INSERT INTO members VALUES ('code_desk', 'acc_bob', 'owner')")
    )
    assert refused(world, "bob", "Desk").code == "not_found"


# ── names ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("PR Reviewer", "prreviewer"),
        ("rts-pr_reviewer.2", "rtsprreviewer2"),
        ("Café", "café"),
        ("Cafe\u0301", "café"),
        ("\uff30\uff32", "pr"),
        ("Straße", "strasse"),
        ("!?", ""),
    ],
)
def test_names_are_compared_by_letters_and_digits(name: str, key: str) -> None:
    assert name_key(name) == key


@given(some.text(max_size=40))
def test_a_key_is_its_own_key(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)


@pytest.mark.parametrize("name", ["A", "PR Reviewer", "Ünïcode 9", "x" * 100, "名前"])
def test_a_name_has_a_letter_or_a_digit_and_up_to_100_characters(name: str) -> None:
    assert name_problems(name) == []


@pytest.mark.parametrize(
    "name", ["", "-", "x" * 101, "a\n", "a\x1b[31m", " a", "a ", "a\u202eb", "a\ud800", "a\0"]
)
def test_other_names_are_refused(name: str) -> None:
    assert name_problems(name)


def test_the_nearest_names_come_first_and_three_at_most() -> None:
    known = ["PR Reviewer", "Release Notes", "Reviewer of Reviewers", "Latency", "PR Reviewed"]
    assert near("pr reviwer", known)[0] == "PR Reviewer"
    assert near("reviewer", known)[:1] == ["PR Reviewer"]
    assert len(near("reviewer", known)) <= 3
    assert near("zzz", known) == []


def test_crew_ids_are_random_uuids() -> None:
    drawn = {clock.new_uuid() for _ in range(100)}
    assert len(drawn) == 100
    assert all(each[14] == "4" and each[19] in "89ab" and len(each) == 36 for each in drawn)
