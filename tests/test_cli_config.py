"""The private file of a sign-in: renewed by one program at a time, and never spoilt."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path

import pytest

from cli.config import Given as GivenOptions
from cli.config import config_path, same_server
from tests import cli_office, cli_world
from tests.cli_office import CONTEXT, NOT_SIGNED_IN, Office, signed_in
from tests.cli_world import Given, Hand, StandIn

a_server, a_hand, an_office = (
    cli_world.a_server,
    cli_office.a_hand_without_a_token,
    cli_office.an_office,
)


# ── Renewal ──────────────────────────────────────────────────────────────────────────────────


def test_a_token_that_is_about_to_end_is_renewed_before_the_call(
    server: StandIn, office: Office, hand: Hand
) -> None:
    office.issued = 1
    hand.keep(**signed_in(server, seconds_left=5))
    assert hand.run("guidance", "context").code == 0
    assert [(each.path, each.token) for each in server.asked] == [
        ("/oauth/token", ""),
        ("/api/context", "access-2"),
    ]
    assert hand.kept()["refresh_token"] == "refresh-2"


def test_a_token_that_the_server_has_ended_is_renewed_and_the_call_repeated(
    server: StandIn, office: Office, hand: Hand
) -> None:
    office.issued = 1
    hand.keep(**{**signed_in(server), "access_token": "stolen"})
    assert hand.run("messages", "register", "--agent", "x").code == 0
    assert [each.token for each in server.asked] == ["stolen", "", "access-2"]


def test_programs_that_start_together_renew_once(
    server: StandIn, office: Office, hand: Hand
) -> None:
    office.issued = 1
    hand.keep(**signed_in(server, seconds_left=5))
    hand.config.with_name("config.json.lock").touch(mode=0o600)
    with open(hand.config.with_name("config.json.lock")) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        running = [hand.start("guidance", "context") for _ in range(3)]
        time.sleep(0.8)  # all of them have read the old token and wait for the lock
        assert not server.asked
    assert [hand.ended(each).code for each in running] == [0, 0, 0]
    assert [each.path for each in server.asked].count("/oauth/token") == 1


def test_a_sign_in_that_cannot_be_renewed_is_over(
    server: StandIn, office: Office, hand: Hand
) -> None:
    office.issued = 9
    hand.keep(**signed_in(server, issued=1))
    before = hand.config.read_bytes()
    done = hand.run("guidance", "context", "--json")
    assert (done.code, done.json) == (4, NOT_SIGNED_IN)
    assert hand.config.read_bytes() == before


def test_a_server_that_cannot_renew_now_is_unreachable(server: StandIn, hand: Hand) -> None:
    hand.keep(**signed_in(server, seconds_left=5))
    server.rule = lambda asked: Given(503, b"", (("Retry-After", "0"),))
    assert hand.run("guidance", "context").code == 7
    assert hand.kept()["refresh_token"] == "refresh-1"


def test_a_token_goes_only_to_the_server_it_is_from(
    server: StandIn, office: Office, hand: Hand
) -> None:
    kept = {**signed_in(server), "server": "http://127.0.0.1:1", "expires_at": 5}
    hand.keep(**kept)
    assert hand.run("guidance", "context").code == 4
    assert [(each.path, each.token) for each in server.asked] == [("/api/context", "")]
    assert same_server("HTTPS://Host/a/", "https://host:443/a")
    assert not same_server("https://host", "http://host")


def test_the_environment_wins_over_the_file(server: StandIn, office: Office, hand: Hand) -> None:
    hand.keep(**{**signed_in(server, seconds_left=5), "server": "http://127.0.0.1:1"})
    done = hand.run("guidance", "context", env={"AGENTWORKS_TOKEN": "mine"})
    assert done.code == 4
    assert [(each.path, each.token) for each in server.asked] == [("/api/context", "mine")]
    assert "the token came from AGENTWORKS_TOKEN" in done.err
    wrong = hand.run("guidance", "context", env={"AGENTWORKS_TOKEN": "a\nHost: b"})
    assert wrong.code == 2 and len(server.asked) == 1


def test_the_environment_alone_needs_no_file(server: StandIn, office: Office, hand: Hand) -> None:
    office.issued = 1
    hand.keep()
    hand.config.write_text("{")
    assert hand.run("guidance", "context", env={"AGENTWORKS_TOKEN": "access-1"}).code == 0


# ── The file ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"server": 1}',
        b'{"expires_at": "x"}',
        b'{"access_token": "a\\nHost: b"}',
        b'{"x":"' + b"x" * 65_536,
    ],
    ids=["empty", "cut", "list", "bytes", "number", "text", "header", "long"],
)
def test_a_file_that_makes_no_sense_is_named_and_never_touched(
    server: StandIn, hand: Hand, raw: bytes
) -> None:
    hand.keep()
    hand.config.write_bytes(raw)
    for words in (["guidance", "context"], ["login"], ["logout"]):
        done = hand.run(*words)
        assert (done.code, done.out) == (2, "") and str(hand.config) in done.err
    assert hand.config.read_bytes() == raw and not server.asked
    assert hand.run("--help").code == 0


def test_a_file_that_others_may_read_is_used_with_a_warning(
    server: StandIn, office: Office, hand: Hand
) -> None:
    office.issued = 1
    hand.keep(**signed_in(server))
    hand.config.chmod(0o644)
    done = hand.run("guidance", "context", "--json")
    assert (done.code, done.json) == (0, CONTEXT) and "chmod 600" in done.err


def test_each_agent_may_have_a_file_of_its_own(
    server: StandIn, office: Office, hand: Hand, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "real" / "reviewer.json")
    assert hand.run("--config", str(tmp_path / "link.json"), "login").code == 0
    assert (tmp_path / "link.json").is_symlink() and not hand.config.exists()
    assert (tmp_path / "real/reviewer.json").stat().st_mode & 0o777 == 0o600
    assert [each.name for each in (tmp_path / "real").iterdir()] == ["reviewer.json"]


def test_the_file_is_in_the_configuration_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/x")
    for xdg, path in (
        ("/etc/y", "/etc/y/agentworks/config.json"),
        ("not/absolute", "/home/x/.config/agentworks/config.json"),
        ("", "/home/x/.config/agentworks/config.json"),
    ):
        monkeypatch.setenv("XDG_CONFIG_HOME", xdg)
        assert config_path(GivenOptions()) == path


def test_a_folder_that_cannot_be_written_is_found_before_anyone_is_asked(
    server: StandIn, hand: Hand, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    done = hand.run("--config", str(tmp_path / "file" / "x.json"), "login")
    assert done.code == 2 and "x.json" in done.err
    assert not server.asked
