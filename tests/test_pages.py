"""People on the pages: how they come in, what they see, and how they leave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts.refusal import RefusalCode
from agentworks.rules import limits
from agentworks.surfaces.http import STATUS
from agentworks.web import words
from agentworks.web.forms import local
from agentworks.web.visits import STATUSES
from tests.pages_office import PASSWORD, Browser, Office, opened

OTHER = "another long password"


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def ada(office: Office) -> Browser:
    return office.owner()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """One server for the tests that change nothing on it; its link is used."""
    with opened(tmp_path_factory.mktemp("shared")) as found:
        found.known = found.owner()
        yield found


# ── the first link, and invitations ──────────────────────────────────────────────────────────


def test_looking_at_a_link_does_not_use_it_up(office: Office) -> None:
    browser = office.browser()
    for _ in range(3):
        assert "This server is yours" in browser.get(office.link).text
        assert browser.client.head(office.link).status_code == 200
    browser.join(office.link, account_name="ada")
    assert browser.place == "/connect"
    assert "You are signed in" in browser.follow().text


def test_a_link_works_once(office: Office) -> None:
    office.owner()
    late = office.browser()
    assert "no longer works" in late.get(office.link).text
    assert late.status == 404
    late.get("/sign-in")
    token = late.form("sign-in")[1]["csrf"]
    fields = {"csrf": token, "act": "join", "account_name": "eve", "password": PASSWORD}
    late.post(office.link, {**fields, "again": PASSWORD})
    assert late.status == 404


def test_every_problem_of_a_first_start_is_told_at_once_and_the_name_is_kept(
    office: Office,
) -> None:
    browser = office.browser()
    seen = browser.join(office.link, account_name="a b", password="short", again="else")
    assert browser.status == 400
    for told in ("The name is 1 to 64", "The password has 5 characters", "not the same"):
        assert told in seen.text
    assert browser.form("join")[1]["account_name"] == "a b"
    assert "short" not in browser.answer.text and "else" not in browser.answer.text


def test_an_invitation_is_shown_once_and_is_for_its_name(office: Office, ada: Browser) -> None:
    ada.get("/people")
    seen = ada.press("invite", account_name="bob")
    assert ada.status == 200 and "It is shown only now" in seen.text
    link = next(word for word in seen.text.split() if "/welcome/" in word)
    assert link.startswith(f"{office.base}/welcome/awi_")
    assert "/welcome/" not in ada.get("/people").text
    bob = office.browser()
    assert bob.get(link).text.count("bob") == 0  # it stands in the field, and cannot be changed
    bob.join(link, account_name="eve")
    assert bob.status == 400
    bob.join(link)
    assert bob.place == "/connect"
    assert "Hello, bob" in bob.get("/").text


@pytest.mark.parametrize("name", ["", "a b", "ada", "x" * 65, "<b>"])
def test_a_name_that_cannot_be_invited_is_refused_and_kept(shared: Office, name: str) -> None:
    ada = shared.known
    ada.get("/people")
    seen = ada.press("invite", account_name=name)
    assert ada.status in (400, 409)
    assert "^[" not in seen.text
    assert ada.form("invite")[1]["account_name"] == name


def test_only_the_owner_sees_and_changes_accounts(office: Office, ada: Browser) -> None:
    bob = office.person(ada, "bob")
    assert "People" not in bob.get("/").text
    bob.get("/people")
    assert bob.status == 403
    bob.get("/connect")
    fields = {"csrf": bob.form("find")[1]["csrf"], "act": "invite", "account_name": "eve"}
    bob.post("/people", fields)
    assert bob.status == 403
    assert "eve" not in ada.get("/people").text


def test_a_disabled_account_is_out_at_once(office: Office, ada: Browser) -> None:
    bob = office.person(ada, "bob")
    token = office.lets_in(bob)["access_token"]
    assert office.context(token).status_code == 200
    ada.get("/people")
    ada.press("disable")
    assert "The account is disabled" in ada.follow().text
    assert "disabled now" in ada.get("/people").text
    bob.get("/")
    assert bob.place == "/sign-in"
    assert office.context(token).status_code == 401
    assert "wrong" in bob.sign_in("bob").text


# ── signing in and out ───────────────────────────────────────────────────────────────────────


def test_a_wrong_password_is_refused_in_the_same_words_as_a_wrong_name(
    office: Office, ada: Browser
) -> None:
    browser = office.browser()
    told = []
    for name in ("ada", "nobody"):
        seen = browser.sign_in(name, "a wrong password")
        assert browser.status == 401
        assert browser.form("sign-in")[1]["account_name"] == name
        assert "a wrong password" not in browser.answer.text
        told.append(seen.text.replace(name, ""))
    assert told[0] == told[1] and "The name or the password is wrong" in told[0]
    browser.sign_in("ADA")
    assert browser.status == 303


def test_too_many_wrong_passwords_must_wait(office: Office, ada: Browser) -> None:
    browser = office.browser()
    for _ in range(limits.SIGN_IN_FAILURES_MAX):
        browser.sign_in("ada", "a wrong password")
    seen = browser.sign_in("ada")
    assert browser.status == 429
    assert "Try again in 15 minutes" in seen.text
    assert 800 < int(browser.answer.headers["retry-after"]) <= limits.ATTEMPTS_WINDOW_SECONDS


@pytest.mark.parametrize(
    "path", ["/", "/connect", "/connect/WDJB-MJHT", "/people", "/password", "/sign-out"]
)
def test_whoever_is_not_signed_in_is_asked_to(shared: Office, path: str) -> None:
    browser = shared.browser()
    browser.get(path)
    assert (browser.status, browser.place.partition("?")[0]) == (303, "/sign-in")
    assert browser.answer.content == b""


def test_after_signing_in_one_is_where_one_wanted_to_be(office: Office, ada: Browser) -> None:
    browser = office.browser()
    browser.get("/connect?code=WDJB-MJHT")
    browser.follow()
    browser.press("sign-in", account_name="ada", password="a wrong password")
    browser.press("sign-in", account_name="ada", password=PASSWORD)
    assert browser.place == "/connect?code=WDJB-MJHT"
    browser.get("/sign-in?next=/people")
    assert browser.place == "/people"  # already signed in


@pytest.mark.parametrize(
    "address",
    [
        *("//evil.example", "\\\\evil.example", "/\\evil.example", "/\t/evil.example", "evil", ""),
        *("https://evil.example", "javascript:alert(1)", "/a\r\nset-cookie: a=b", "/\u00e9", "/ x"),
        *("http:/connect", "///evil.example", "/" + "a" * 2_000, "/[", "//[", "?x", "/a\\b"),
    ],
)
def test_nobody_is_led_to_another_server(shared: Office, address: str) -> None:
    assert local(address) in ("/", "/[")
    browser = shared.browser()
    browser.get("/sign-in")
    browser.press("sign-in", account_name="ada", password=PASSWORD, next=address)
    assert browser.place in ("/", "/[")


def test_signing_out_ends_the_session_on_the_server(office: Office, ada: Browser) -> None:
    kept = dict(ada.client.cookies)
    ada.get("/")
    ada.press("sign-out")
    assert ada.place == "/sign-in"
    assert "aw_session" not in str(dict(ada.client.cookies))
    assert "You are signed out" in ada.follow().text
    assert "You are signed out" not in ada.get("/sign-in").text  # said once
    thief = office.browser()
    thief.client.cookies.update(kept)
    thief.get("/")
    assert thief.place == "/sign-in"


def test_signing_in_anew_ends_the_session_before(office: Office, ada: Browser) -> None:
    office.person(ada, "bob")
    before = dict(ada.client.cookies)
    ada.client.cookies.clear()
    ada.get("/sign-in")
    action, fields = ada.form("sign-in")
    ada.client.cookies.update(before)
    ada.get("/sign-in")
    assert ada.place == "/"
    ada.post(action, {**fields, "account_name": "bob", "password": PASSWORD})
    assert ada.status == 303, "the form of a page opened before one signed in still works"
    assert "Hello, bob" in ada.follow().text
    old = office.browser()
    old.client.cookies.update(before)
    old.get("/")
    assert old.place == "/sign-in"


def test_a_session_that_ended_leads_from_the_form_back_to_its_page(
    office: Office, ada: Browser
) -> None:
    ada.get("/people")
    action, fields = ada.form("invite")
    other = office.browser()
    other.sign_in()
    other.get("/password")
    change = {"old_password": PASSWORD, "password": OTHER, "again": OTHER}
    other.press("change", **change)
    ada.post(action, {**fields, "account_name": "bob"})
    assert ada.place == "/sign-in?next=/people"
    assert "Your session has ended, and nothing was changed" in ada.follow().text
    ada.press("sign-in", account_name="ada", password=OTHER)
    assert ada.place == "/people"
    assert "bob" not in ada.follow().text


# ── one's password ───────────────────────────────────────────────────────────────────────────


def test_a_new_password_signs_other_browsers_out(office: Office, ada: Browser) -> None:
    other = office.browser()
    other.sign_in()
    ada.get("/password")
    ada.press("change", old_password=PASSWORD, password=OTHER, again=OTHER)
    assert "Your password is changed" in ada.follow().text
    other.get("/")
    assert other.place == "/sign-in"
    assert other.sign_in().text and other.status == 401
    other.sign_in(password=OTHER)
    assert other.status == 303


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"old_password": "a wrong password"}, "The present password is wrong"),
        ({"again": "something else"}, "The two passwords are not the same"),
        ({"password": "short", "again": "short"}, "at least 12 are needed"),
        ({"password": "x" * 1_025, "again": "x" * 1_025}, "at most 1,024 are allowed"),
    ],
)
def test_a_password_is_changed_only_when_all_is_right(
    shared: Office, change: dict[str, Any], told: str
) -> None:
    ada = shared.known
    ada.get("/password")
    given = {"old_password": PASSWORD, "password": OTHER, "again": OTHER, **change}
    assert told in ada.press("change", **given).text
    assert ada.status == 400
    assert not any(value in ada.answer.text for value in given.values())
    other = shared.browser()
    other.sign_in()
    assert other.place == "/"


# ── words ────────────────────────────────────────────────────────────────────────────────────


def test_the_pages_use_the_statuses_of_the_contract() -> None:
    assert {code: int(STATUS[code]) for code in STATUSES} == STATUSES
    assert RefusalCode.NOT_SIGNED_IN in STATUSES


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (5_400, "2 hours"), (86_400, "1 day")],
)
def test_a_length_of_time_is_said_in_its_largest_unit(seconds: int, said: str) -> None:
    assert words.span(seconds) == said
