"""The Connect page: letting programs in, changing and ending connections, named agents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentworks.rules import limits
from agentworks.web.pages import connect
from tests.pages_office import Browser, Office, opened


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


def connection(office: Office, granted: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = office.context(granted["access_token"]).json()["connection"]
    return found


# ── letting a program in ─────────────────────────────────────────────────────────────────────


def test_a_person_sees_what_asks_and_lets_it_in(office: Office, ada: Browser) -> None:
    codes = office.asks("build machine", "read")
    assert codes["verification_uri_complete"].startswith(f"{office.base}/connect?code=")
    ada.get(codes["verification_uri_complete"].removeprefix(office.base))
    seen = ada.follow()
    assert codes["user_code"] in seen.text and "build machine" in seen.text
    assert seen.fields["scope:read"].sent == "on"
    assert seen.fields["scope:run"].sent is None and seen.fields["scope:author"].sent is None
    assert office.fetches(codes).json()["error"] == "authorization_pending"
    ada.press("approve")
    assert "The program is let in" in ada.follow().text
    granted = office.fetches(codes).json()
    assert connection(office, granted)["scopes"] == ["read"]


def test_a_person_decides_how_far_it_may_go(office: Office, ada: Browser) -> None:
    granted = office.lets_in(
        ada,
        **{"label": "Ada's laptop", "scope:read": None, "scope:author": "on"},
        **{"bounds": "some", "other_targets": "reg_1, reg_2\treg_1", "expires_days": "7"},
    )
    got = connection(office, granted)
    assert (got["label"], got["scopes"]) == ("Ada's laptop", ["run", "author"])
    assert got["targets"] == ["reg_1", "reg_2"] and got["expires_at"] > got["created_at"]
    assert "in 7 days" in ada.get("/connect").text


def test_every_problem_is_told_at_once_and_what_was_typed_is_kept(
    office: Office, ada: Browser
) -> None:
    codes = office.asks()
    ada.get(f"/connect/{codes['user_code']}")
    bare = {"scope:read": None, "scope:run": None, "expires_days": "30", "bounds": "some"}
    seen = ada.press("approve", label=" ", **bare)
    assert ada.status == 400
    for told in ("What it may do needs at least one choice", "Choose at least one agent"):
        assert told in seen.text
    kept = ada.form("approve")[1]
    assert kept["bounds"] == "some" and kept["expires_days"] == "30" and "scope:run" not in kept
    told = ada.press("approve", **{"label": "x" * 101, "scope:run": "on", "bounds": "every"}).text
    assert "The label has 101 characters; at most 100 are allowed" in told
    assert ada.form("approve")[1]["label"] == "x" * 101
    assert office.fetches(codes).json()["error"] == "authorization_pending"


@pytest.mark.parametrize("bounds", [{"bounds": None}, {"bounds": "all"}, {"bounds": "some"}])
def test_no_choice_of_targets_never_means_all_of_them(
    office: Office, ada: Browser, bounds: dict[str, Any]
) -> None:
    codes = office.asks()
    ada.get(f"/connect/{codes['user_code']}")
    ada.press("approve", **bounds)
    assert ada.status == 400
    assert "error" in office.fetches(codes).json()


def test_a_program_is_turned_away(office: Office, ada: Browser) -> None:
    codes = office.asks()
    ada.get(f"/connect/{codes['user_code']}")
    action, fields = ada.form("approve")
    ada.press("deny", label="")
    assert "The program was turned away" in ada.follow().text
    assert office.fetches(codes).json()["error"] == "access_denied"
    assert "already denied" in ada.post(action, fields).text
    assert ada.status == 409
    ada.get(action)
    assert ada.status in (404, 409)


def test_a_code_is_found_however_it_is_typed(office: Office, ada: Browser) -> None:
    code = office.asks()["user_code"]
    for typed in (code, code.lower(), f" {code[:4]} {code[5:]} "):
        ada.get("/connect")
        ada.press("find", user_code=typed)
        assert ada.place == f"/connect/{code}"


@pytest.mark.parametrize("typed", ["BBBB-BBBB", "x", "", "é" * 8, "<script>", "A" * 17, "%00"])
def test_an_unknown_code_is_refused_and_kept(shared: Office, typed: str) -> None:
    ada = shared.known
    ada.get("/connect")
    ada.press("find", user_code=typed)
    assert ada.status in (400, 404)
    assert ada.form("find")[1]["user_code"] == typed
    assert "<script>" not in ada.answer.text


def test_codes_cannot_be_guessed_without_end(ada: Browser) -> None:
    for _ in range(limits.CODE_FAILURES_MAX):
        ada.get("/connect/BBBB-BBBB")
    assert ada.status == 404
    assert "Try again in" in ada.get("/connect/BBBB-BBBB").text
    assert ada.status == 429 and int(ada.answer.headers["retry-after"]) > 0


# ── connections ──────────────────────────────────────────────────────────────────────────────


def test_a_connection_is_changed_where_it_is_shown(office: Office, ada: Browser) -> None:
    granted = office.lets_in(ada, "laptop", expires_days="30")
    path = f"/connect/connections/{granted['connection_id']}"
    until = connection(office, granted)["expires_at"]
    seen = ada.get(path)
    assert seen.all("input") and ada.form("change")[1]["label"] == "laptop"
    ada.press("change", **{"label": "desk", "scope:run": None})
    assert "The connection is changed" in ada.follow().text
    got = connection(office, granted)
    assert (got["label"], got["scopes"], got["expires_at"]) == ("desk", ["read"], until)
    ada.get(path)
    ada.press("change", bounds="some", label="")
    assert ada.status == 400 and "targets" not in connection(office, granted)
    ada.press("change", bounds="some", label="desk", other_targets="reg_1", expires_days="0")
    got = connection(office, granted)
    assert got["targets"] == ["reg_1"] and "expires_at" not in got
    assert ada.get(path).fields and ada.form("change")[1]["other_targets"] == "reg_1"


def test_a_connection_ends_at_once(office: Office, ada: Browser) -> None:
    first, second = office.lets_in(ada, "first"), office.lets_in(ada, "second")
    ada.get("/connect")
    path = f"/connect/connections/{first['connection_id']}"
    ada.press("revoke", at=path)
    assert "The connection is revoked" in ada.follow().text
    assert office.context(first["access_token"]).status_code == 401
    assert office.context(second["access_token"]).status_code == 200
    seen = ada.get(path)
    assert "revoked" in seen.text and "no longer works" in seen.text
    assert [action for action, _ in seen.forms] == ["/sign-out"]
    assert "1 ended connection" in ada.get("/connect").text


def test_a_change_that_comes_too_late_says_so(office: Office, ada: Browser) -> None:
    granted = office.lets_in(ada)
    path = f"/connect/connections/{granted['connection_id']}"
    ada.get(path)
    action, fields = ada.form("change")
    ada.press("revoke")
    assert "was revoked or has run out" in ada.post(action, fields).text
    assert ada.status == 409


def test_other_people_s_connections_and_names_do_not_exist(office: Office, ada: Browser) -> None:
    granted = office.lets_in(ada)
    ada.get("/connect")
    ada.press("register", agent_name="worker")
    bob = office.person(ada, "bob")
    bob.get("/connect")
    token = bob.form("find")[1]["csrf"]
    for path in (f"/connect/connections/{granted['connection_id']}", "/connect/agents/worker"):
        bob.get(path)
        assert bob.status == 404
        for act in ("revoke", "change", "remove"):
            fields = {"csrf": token, "act": act}
            bob.post(path, fields)
            assert bob.status in (400, 404)
    assert office.context(granted["access_token"]).status_code == 200
    assert "agent:worker" in ada.get("/connect").text


def test_what_others_wrote_is_shown_as_text(office: Office, ada: Browser) -> None:
    label = "<img src=x onerror=alert(1)>&amp;'\""
    office.lets_in(ada, label)
    seen = ada.get("/connect")
    assert label in seen.text
    assert {each["src"].partition(".")[0] for each in seen.all("img")} == {"/static/mark"}


def test_ended_connections_do_not_fill_the_page(
    office: Office, ada: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "ENDED_SHOWN_MAX", 2)
    for place in range(3):
        granted = office.lets_in(ada, f"number {place}")
        ada.get("/connect")
        ada.press("revoke", at=f"/connect/connections/{granted['connection_id']}")
    seen = ada.get("/connect")
    assert "3 ended connections" in seen.text and "the newest 2" in seen.text
    assert [place for place in range(3) if f"number {place}" in seen.text] == [1, 2]


# ── named agents ─────────────────────────────────────────────────────────────────────────────


def test_a_name_is_registered_changed_and_removed(office: Office, ada: Browser) -> None:
    first, second = office.lets_in(ada, "first"), office.lets_in(ada, "second")
    ada.get("/connect")
    ada.press("register", agent_name="Worker", **{f"connection:{first['connection_id']}": "on"})
    assert "The name is registered" in ada.follow().text
    assert office.context(first["access_token"]).json()["agents"] == ["agent:Worker"]
    assert "agents" not in office.context(second["access_token"]).json()
    ada.get("/connect/agents/worker")
    assert ada.form("change")[1][f"connection:{first['connection_id']}"] == "on"
    swap = {f"connection:{first['connection_id']}": None}
    ada.press("change", **swap, **{f"connection:{second['connection_id']}": "on"})
    assert "The list of connections is changed" in ada.follow().text
    assert "agents" not in office.context(first["access_token"]).json()
    assert office.context(second["access_token"]).json()["agents"] == ["agent:Worker"]
    ada.press("remove", at="/connect/agents/Worker")
    assert "The name is removed" in ada.follow().text
    ada.get("/connect/agents/worker")
    assert ada.status == 404


@pytest.mark.parametrize("name", ["", "a b", "-x", "x" * 65, "agent:x", "é", "a/b"])
def test_a_name_that_is_none_is_refused_in_plain_words(shared: Office, name: str) -> None:
    ada = shared.known
    ada.get("/connect")
    seen = ada.press("register", agent_name=name)
    assert ada.status == 400
    assert "The name is 1 to 64 letters, digits, dots, dashes and underscores" in seen.text
    assert "^[" not in seen.text
    assert ada.form("register")[1]["agent_name"] == name


def test_only_live_connections_may_be_allowed(office: Office, ada: Browser) -> None:
    granted = office.lets_in(ada)
    ada.get("/connect")
    choice = {f"connection:{granted['connection_id']}": "on", "connection:conn_nobody": "on"}
    assert "No live connection" in ada.press("register", agent_name="worker", **choice).text
    assert ada.status == 404
    kept = ada.form("register")[1]
    assert kept["agent_name"] == "worker" and kept[f"connection:{granted['connection_id']}"] == "on"
    assert "agent:worker" not in ada.get("/connect").text


def test_a_removed_name_is_not_registered_again_by_an_old_page(
    office: Office, ada: Browser
) -> None:
    ada.get("/connect")
    ada.press("register", agent_name="worker")
    ada.get("/connect/agents/worker")
    action, fields = ada.form("change")
    ada.press("remove")
    ada.post(action, fields)
    assert ada.status == 404
    assert "agent:worker" not in ada.get("/connect").text
