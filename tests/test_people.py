"""People: how somebody comes in and leaves, and how often a password may be guessed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from agentworks.contracts.accounts import CONTEXT, DISABLE, INVITE
from agentworks.contracts.refusal import Refused
from agentworks.identity import callers, passwords, people
from agentworks.identity.people import Session
from agentworks.rules import limits
from agentworks.store import Held, Store
from tests.conftest import HOUR, NOON, World

PASSWORD = "correct horse battery"
OTHER = "another good password"
HERE = "192.0.2.1"


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hashes that cost little: these tests are about everything else."""
    monkeypatch.setattr(limits, "HASH_MEMORY_KIB", 64)
    monkeypatch.setattr(passwords, "HASH_PASSES", 1)
    passwords._hasher.cache_clear()
    passwords._decoy.cache_clear()
    yield
    passwords._hasher.cache_clear()
    passwords._decoy.cache_clear()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[World]:
    """A server at its first start."""
    made = World(tmp_path, "two_agents")
    made.transact(lambda tx: tx.run("DELETE FROM accounts"))
    yield made
    made.close()


@pytest.fixture
def ada(world: World) -> World:
    """Ada, who owns the server, has chosen PASSWORD."""
    joined(world, owners_link(world), "ada")
    return world


def owners_link(world: World) -> str:
    link = world.transact(people.ensure_owner)
    assert link is not None
    return link


def joined(world: World, link: str, name: str, password: str = PASSWORD) -> Session:
    session = world.run(people.welcome(world.store, link, name, password))
    assert isinstance(session, Session), session
    return session


def signing_in(
    world: World, name: str = "ada", password: str = PASSWORD, address: str = HERE
) -> Session | Refused:
    return world.run(people.sign_in(world.store, name, password, address))


def refused(answer: Session | Refused | None) -> str:
    assert isinstance(answer, Refused), answer
    return answer.code.value


def signed_in(world: World, answer: Session | Refused) -> str:
    """The account a session belongs to, as the server sees it; "" for none."""
    assert isinstance(answer, Session), answer
    asked = world.dispatch(CONTEXT, callers.session(answer.secret), {})
    return getattr(world.run(asked), "account_name", "")


def wrong(world: World, times: int, address: str = HERE, name: str = "ada") -> list[str]:
    return [refused(signing_in(world, name, OTHER, address)) for _ in range(times)]


# ── first start and invitations ──────────────────────────────────────────────────────────────


def test_first_start_makes_the_owner_whose_link_chooses_name_and_password(empty: World) -> None:
    link = owners_link(empty)
    found = empty.run(people.look_at_welcome(empty.store, link))
    assert found is not None
    assert (found.account_name, found.owner) == ("owner", 1)
    session = joined(empty, link, "Ada")
    assert (session.account.name, session.account.owner) == ("Ada", 1)
    assert signed_in(empty, session) == "Ada"
    assert signed_in(empty, signing_in(empty, "ADA")) == "Ada"


def test_a_link_works_once(empty: World) -> None:
    link = owners_link(empty)
    joined(empty, link, "ada")
    assert empty.run(people.look_at_welcome(empty.store, link)) is None
    assert refused(empty.run(people.welcome(empty.store, link, "eve", OTHER))) == "not_found"
    assert empty.transact(people.ensure_owner) is None


def test_each_start_gives_a_new_link_and_ends_the_older_one(empty: World) -> None:
    older, newer = owners_link(empty), owners_link(empty)
    assert empty.run(people.look_at_welcome(empty.store, older)) is None
    assert refused(empty.run(people.welcome(empty.store, older, "eve", OTHER))) == "not_found"
    assert joined(empty, newer, "ada").account.owner


def test_a_link_runs_out(empty: World) -> None:
    link = owners_link(empty)
    empty.now += limits.INVITATION_HOURS * HOUR
    assert empty.run(people.look_at_welcome(empty.store, link)) is None
    assert refused(empty.run(people.welcome(empty.store, link, "ada", PASSWORD))) == "not_found"


def test_two_who_use_one_link_at_once_do_not_both_get_in(empty: World) -> None:
    link = owners_link(empty)

    async def race() -> list[Session | Refused]:
        names = (("ada", PASSWORD), ("eve", OTHER))
        return await asyncio.gather(*(people.welcome(empty.store, link, *each) for each in names))

    assert sorted(type(each).__name__ for each in empty.run(race())) == ["Refused", "Session"]


def test_an_invitation_lets_one_person_in_under_its_name(ada: World) -> None:
    link = ada.answer(INVITE, "person:ada", account_name="cy").token
    assert refused(ada.run(people.welcome(ada.store, link, "eve", OTHER))) == "invalid_input"
    session = joined(ada, link, "Cy", OTHER)
    assert (session.account.name, session.account.owner) == ("Cy", 0)
    assert ada.run(people.look_at_welcome(ada.store, link)) is None
    assert signed_in(ada, signing_in(ada, "cy", OTHER)) == "Cy"


def test_inviting_again_ends_the_older_invitation(ada: World) -> None:
    older = ada.answer(INVITE, "person:ada", account_name="cy").token
    newer = ada.answer(INVITE, "person:ada", account_name="CY").token
    assert ada.run(people.look_at_welcome(ada.store, older)) is None
    assert joined(ada, newer, "cy").account.name == "cy"


def test_the_owner_cannot_take_the_name_of_another(world: World) -> None:
    link = owners_link(world)
    assert refused(world.run(people.welcome(world.store, link, "Bob", PASSWORD))) == "not_pending"


def test_every_problem_of_a_name_and_a_password_is_told(empty: World) -> None:
    link = owners_link(empty)
    answer = empty.run(people.welcome(empty.store, link, "a da\n", "short"))
    assert isinstance(answer, Refused)
    assert [each.split()[0] for each in answer.problems] == ["account_name", "password"]


# ── passwords ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "password", ["eleven char", "x" * 1_025, "nul \0 in the middle", "half \ud800 a character"]
)
def test_a_password_that_is_none_is_refused_everywhere(ada: World, password: str) -> None:
    session = signing_in(ada)
    assert isinstance(session, Session)
    assert refused(signing_in(ada, password=password)) == "not_signed_in"
    changed = people.change_password(ada.store, session.secret, PASSWORD, password)
    assert refused(ada.run(changed)) == "invalid_input"


# ── sign-in ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["nobody", "bob", "a da", "", "ada\n", "\ud800", "x" * 5_000])
def test_an_unknown_name_is_refused_like_a_wrong_password(ada: World, name: str) -> None:
    assert signing_in(ada, name) == signing_in(ada, "ada", OTHER)
    assert refused(signing_in(ada, name)) == "not_signed_in"


def test_an_unknown_name_takes_the_work_of_a_known_one(
    ada: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare = Mock(wraps=passwords._matches)
    monkeypatch.setattr(passwords, "_matches", compare)
    for name in ("ada", "nobody", "bob", "no name"):
        signing_in(ada, name, OTHER)
    assert compare.call_count == 4


def test_a_disabled_account_cannot_sign_in(ada: World) -> None:
    link = ada.answer(INVITE, "person:ada", account_name="cy").token
    session = joined(ada, link, "cy")
    ada.answer(DISABLE, "person:ada", account_id=session.account.account_id)
    assert refused(signing_in(ada, "cy")) == "not_signed_in"
    assert signed_in(ada, session) == ""


def test_wrong_passwords_for_a_name_are_counted(ada: World) -> None:
    most = limits.SIGN_IN_FAILURES_MAX
    assert wrong(ada, most) == ["not_signed_in"] * most
    ada.now += 1_000
    answer = signing_in(ada, address="198.51.100.7")  # the right password, from elsewhere
    assert isinstance(answer, Refused)
    assert answer.code == "rate_limited"
    assert answer.retry_at == "2023-11-14T22:28:20.000Z"
    ada.now = NOON + limits.ATTEMPTS_WINDOW_SECONDS * 1000
    assert signed_in(ada, signing_in(ada)) == "ada"


def test_a_right_password_clears_the_count_of_its_name(ada: World) -> None:
    for _ in range(3):
        assert set(wrong(ada, limits.SIGN_IN_FAILURES_MAX - 1)) == {"not_signed_in"}
        assert signed_in(ada, signing_in(ada)) == "ada"


def test_wrong_passwords_from_an_address_are_counted_whatever_the_names(ada: World) -> None:
    most = limits.SIGN_IN_FAILURES_PER_ADDRESS_MAX
    for number in range(most):
        assert wrong(ada, 1, name=f"guess{number}") == ["not_signed_in"]
    assert refused(signing_in(ada)) == "rate_limited"
    assert signed_in(ada, signing_in(ada, address="192.0.2.2")) == "ada"


def test_guesses_made_at_once_are_counted_too(ada: World) -> None:
    async def crowd() -> list[Session | Refused]:
        tries = (people.sign_in(ada.store, "ada", OTHER, HERE) for _ in range(40))
        return await asyncio.gather(*tries)

    codes = [refused(each) for each in ada.run(crowd())]
    assert codes.count("not_signed_in") == limits.SIGN_IN_FAILURES_MAX
    assert codes.count("rate_limited") == 40 - limits.SIGN_IN_FAILURES_MAX


def test_a_password_that_is_changed_meanwhile_lets_nobody_in(
    ada: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slowly(*given: str) -> bool:
        sql = "UPDATE accounts SET password_hash = 'x' WHERE owner = 1"
        await ada.store.transact(lambda tx: tx.run(sql))
        return True

    monkeypatch.setattr(passwords, "matches", slowly)
    assert refused(signing_in(ada)) == "not_signed_in"


# ── sessions ─────────────────────────────────────────────────────────────────────────────────


def test_a_session_ends_by_itself_or_by_signing_out(ada: World) -> None:
    one, other = signing_in(ada), signing_in(ada)
    assert isinstance(one, Session)
    assert ada.run(people.sign_out(ada.store, one.secret)) is None
    assert (signed_in(ada, one), signed_in(ada, other)) == ("", "ada")
    ada.now += limits.SESSION_DAYS * 24 * HOUR
    assert signed_in(ada, other) == ""


def test_a_changed_password_ends_every_other_session(ada: World) -> None:
    one, other = signing_in(ada), signing_in(ada)
    assert isinstance(one, Session)
    new = ada.run(people.change_password(ada.store, one.secret, PASSWORD, OTHER))
    assert [signed_in(ada, each) for each in (one, other, new)] == ["", "", "ada"]
    assert refused(signing_in(ada)) == "not_signed_in"
    assert signed_in(ada, signing_in(ada, password=OTHER)) == "ada"


def test_the_old_password_is_needed_and_its_guesses_are_counted(ada: World) -> None:
    session = signing_in(ada)
    assert isinstance(session, Session)
    change = [people.change_password(ada.store, session.secret, OTHER, OTHER) for _ in range(11)]
    codes = [refused(ada.run(each)) for each in change]
    assert codes == ["invalid_input"] * limits.SIGN_IN_FAILURES_MAX + ["rate_limited"]
    assert signed_in(ada, session) == "ada"


def test_nobody_changes_a_password_without_a_session(ada: World) -> None:
    changed = people.change_password(ada.store, "aws_unknown", PASSWORD, OTHER)
    assert refused(ada.run(changed)) == "not_signed_in"


def test_a_server_in_trouble_refuses_a_person_as_it_refuses_a_program(
    ada: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def held(self: Store, work: Any) -> Any:
        raise Held

    monkeypatch.setattr(Store, "transact", held)
    assert refused(signing_in(ada)) == "unavailable"
    assert refused(ada.run(people.sign_out(ada.store, "aws_any"))) == "unavailable"
