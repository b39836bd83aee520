"""Signing in and out from the command line: the device flow, and what it leaves behind."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from cli.config import Reach, SignIn
from cli.login import default_label, patience_asked, warn
from cli.render import Stop
from tests import cli_office, cli_world
from tests.cli_office import Office, device, signed_in
from tests.cli_world import Given, Hand, StandIn, free_port

a_server, a_hand, an_office = (
    cli_world.a_server,
    cli_office.a_hand_without_a_token,
    cli_office.an_office,
)


def test_login_shows_a_link_waits_and_keeps_the_tokens(
    server: StandIn, office: Office, hand: Hand
) -> None:
    office.pending = 1
    done = hand.run("login", "--scope", "read,run", "--scope", "author", "--label", "my laptop")
    assert done.code == 0 and "conn_1" in done.out
    assert "/connect?user_code=WDJB-MJHT\\x1b[2J" in done.err and "code WDJB-MJHT" in done.err
    asked, *polls = server.asked
    assert asked.form == {
        "client_id": "agentworks-cli",
        "scope": "read run author",
        "label": "my laptop",
    }
    assert [poll.form for poll in polls] == 2 * [
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            "device_code": "device-1",
            "client_id": "agentworks-cli",
        }
    ]
    kept = hand.kept()
    assert 3500 < kept.pop("expires_at") - time.time() <= 3600
    assert kept == {
        "server": server.url,
        "connection_id": "conn_1",
        "access_token": "access-1",
        "refresh_token": "refresh-1",
    }
    assert hand.config.stat().st_mode & 0o777 == 0o600
    assert hand.run("guidance", "context", env={"AGENTWORKS_SERVER": ""}).code == 0
    assert server.asked[-1].token == "access-1"


def test_a_login_that_does_not_wait_is_finished_by_the_next(
    server: StandIn, office: Office, hand: Hand
) -> None:
    office.pending = 1
    for _ in range(2):
        waiting = hand.run("login", "--no-wait", "--json")
        assert waiting.code == 8
        assert waiting.json["user_code"] == "WDJB-MJHT"
    assert hand.run("login", "--no-wait").code == 0
    assert hand.kept()["access_token"] == "access-1" and "pending_login" not in hand.kept()
    asked = [each.path for each in server.asked]
    assert (asked.count("/oauth/device_authorization"), asked.count("/oauth/token")) == (1, 2)


def test_a_login_that_asks_for_something_else_begins_anew(
    server: StandIn, office: Office, hand: Hand
) -> None:
    office.pending = 9
    for words in (["--scope", "read"], ["--scope", "read"], [], ["--label", "x"]):
        assert hand.run("login", "--no-wait", *words).code == 8
    asked = [each.path for each in server.asked]
    assert asked.count("/oauth/device_authorization") == 3


def test_a_pending_login_that_was_denied_is_forgotten(server: StandIn, hand: Hand) -> None:
    server.queue = [Given(200, device()), Given(400, {"error": "access_denied"})]
    assert [hand.run("login", "--no-wait").code for _ in range(2)] == [8, 3]
    assert hand.kept() == {}


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        ([device(), {"error": "access_denied"}], 3, "turned this program away"),
        ([device(), {"error": "expired_token"}], 5, "nobody approved in time"),
        ([device(), {"error": "invalid_client"}], 3, "invalid_client"),
        ([device(expires_in=0)], 5, "nobody approved in time"),
        ([{"error": "invalid_scope", "error_description": "no\x1b such"}], 3, "no\\x1b such"),
        ([{"user_code": "x"}], 3, "refused"),
    ],
    ids=["denied", "expired", "unknown", "too_late", "scope", "incomplete"],
)
def test_a_login_that_fails_says_why_and_keeps_nothing(
    server: StandIn, hand: Hand, answers: list[Any], code: int, words: str
) -> None:
    server.queue = [Given(400 if "error" in each else 200, each) for each in answers]
    done = hand.run("login")
    assert (done.code, done.out) == (code, "") and words in done.err
    assert not hand.config.exists()


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://agents.example", True),
        ("http://127.example.com", True),
        ("https://agents.example", False),
        ("http://localhost:1", False),
        ("http://127.0.0.2", False),
        ("http://[::1]:1", False),
    ],
)
def test_a_sign_in_that_others_can_overhear_comes_with_a_warning(
    url: str, warned: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    warn(Reach(server=url, path="/x", kept=SignIn(), timeout=1))
    assert ("is not encrypted" in capfd.readouterr().err) is warned


def test_a_token_that_no_header_can_hold_is_not_kept(server: StandIn, hand: Hand) -> None:
    server.queue = [Given(200, device()), Given(200, {"access_token": "a\nb", "expires_in": 9})]
    assert hand.run("login").code == 7
    assert not hand.config.exists()


def test_a_busy_server_is_asked_less_often() -> None:
    reach = Reach(server="http://x", path="/x", kept=SignIn(), timeout=1)
    assert patience_asked(reach, 400, {"error": "authorization_pending"}) == 0
    assert patience_asked(reach, 400, {"error": "slow_down"}) == 5
    assert patience_asked(reach, 429, {}) == 5
    with pytest.raises(Stop):
        patience_asked(reach, 400, {})


def test_a_program_is_named_after_its_machine_and_its_file() -> None:
    host = os.uname().nodename
    for path, label in (("/a/config.json", host), ("/a/reviewer.json", f"{host} reviewer")):
        reach = Reach(server="http://x", path=path, kept=SignIn(), timeout=1)
        assert default_label(reach) == label


def test_logout_revokes_and_forgets(server: StandIn, office: Office, hand: Hand) -> None:
    hand.keep(**signed_in(server), own_note="stays")
    elsewhere = {"AGENTWORKS_SERVER": "http://127.0.0.1:1"}
    assert hand.run("logout", env=elsewhere).code == 0
    assert server.asked[0].form == {"token": "refresh-1", "client_id": "agentworks-cli"}
    assert hand.kept() == {"server": server.url, "own_note": "stays"}
    assert hand.run("logout", "--json").json["status"] == "not_signed_in"
    assert len(server.asked) == 1


def test_logout_without_the_server_keeps_the_sign_in(hand: Hand) -> None:
    kept = {"server": f"http://127.0.0.1:{free_port()}", "access_token": "a", "refresh_token": "r"}
    hand.keep(**kept)
    assert hand.run("logout").code == 7
    assert hand.kept() == kept
