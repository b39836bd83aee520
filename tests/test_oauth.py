"""Sign-in for programs: the device flow, renewal and revocation as standard clients speak them."""

from __future__ import annotations

import re

import pytest

from agentworks.contracts.accounts import (
    APPROVE_DEVICE,
    CONNECTIONS,
    DENY_DEVICE,
    DISABLE,
    FIND_DEVICE,
    REVOKE_CONNECTION,
)
from agentworks.identity.secrets import hashed
from agentworks.rules import limits
from tests.conftest import DAY, HOUR, World
from tests.oauth_program import SECOND, Program, approves, error, works


@pytest.fixture
def program(world: World) -> Program:
    return Program(world)


# ── asking to be let in ──────────────────────────────────────────────────────────────────────


def test_a_program_gets_a_code_to_show_and_a_code_to_ask_with(program: Program) -> None:
    codes = program.asks(label="ada's laptop", scope="run read")
    assert re.fullmatch("[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}", codes["user_code"])
    assert codes.pop("device_code").startswith("awd_")
    assert codes == {
        "user_code": codes["user_code"],
        "verification_uri": "http://server.test/connect",
        "verification_uri_complete": f"http://server.test/connect?code={codes['user_code']}",
        "expires_in": 600,
        "interval": 2,
    }
    shown = program.world.answer(FIND_DEVICE, "person:ada", user_code=codes["user_code"])
    assert (shown.label, shown.scopes) == ("ada's laptop", ["read", "run"])


def test_without_a_label_or_scopes_a_program_is_called_by_its_client_id(program: Program) -> None:
    codes = program.asks(client_id="https://client.test/about")
    shown = program.world.answer(FIND_DEVICE, "person:ada", user_code=codes["user_code"])
    assert (shown.label, shown.scopes) == ("https://client.test/about", ["read", "run"])


def test_what_a_program_says_of_itself_is_checked(program: Program) -> None:
    for client_id in ("", "x" * 101, "café", "c\n"):
        answer = program.post("/oauth/device_authorization", client_id=client_id)
        assert error(answer) == "invalid_request"
    for label in ("x" * 101, "\x1b[2J", "\u202egpj.exe", "   "):
        answer = program.post("/oauth/device_authorization", client_id="cli", label=label)
        assert error(answer) == "invalid_request"
    for scope in ("read root", "  "):
        answer = program.post("/oauth/device_authorization", client_id="cli", scope=scope)
        assert error(answer) == "invalid_scope"


def test_every_problem_is_told_at_once(program: Program) -> None:
    answer = program.post("/oauth/device_authorization", label="\x00")
    assert answer.json()["error_description"] == (
        "client_id is required; label must not hold control characters"
    )


def test_an_address_may_ask_so_often(program: Program) -> None:
    for _ in range(limits.DEVICE_REQUESTS_PER_ADDRESS_MAX):
        program.asks()
    answer = program.post("/oauth/device_authorization", client_id="cli")
    assert error(answer, 429) == "temporarily_unavailable"
    assert int(answer.headers["retry-after"]) >= 1
    assert Program(program.world, "192.0.2.2").asks()
    program.world.now += limits.ATTEMPTS_WINDOW_SECONDS * SECOND
    assert program.asks()


def test_so_many_programs_may_wait(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DEVICE_CODES_WAITING_MAX", 2)
    codes = program.asks()
    program.asks()
    answer = program.post("/oauth/device_authorization", client_id="cli")
    assert error(answer, 429) == "temporarily_unavailable"
    program.world.answer(DENY_DEVICE, "person:ada", user_code=codes["user_code"])
    assert program.asks()
    program.world.now += limits.DEVICE_CODE_SECONDS * SECOND
    assert program.asks()


# ── being let in ─────────────────────────────────────────────────────────────────────────────


def test_a_program_waits_until_a_person_lets_it_in(program: Program) -> None:
    codes = program.asks()
    for _ in range(3):
        assert error(program.polls(codes)) == "authorization_pending"
        program.world.now += 2 * SECOND
    connection_id = approves(program.world, codes, scopes=["read"])
    answer = program.polls(codes)
    assert answer.status_code == 200
    tokens = answer.json()
    assert works(program.world, tokens["access_token"])
    assert tokens == {
        "token_type": "Bearer",
        "access_token": tokens["access_token"],
        "refresh_token": tokens["refresh_token"],
        "expires_in": 3_600,
        "scope": "read",
        "connection_id": connection_id,
    }


def test_who_asks_faster_than_the_interval_is_slowed_down(program: Program) -> None:
    codes = program.asks()
    assert error(program.polls(codes)) == "authorization_pending"
    program.world.now += SECOND
    assert error(program.polls(codes)) == "slow_down"
    program.world.now += 2 * SECOND
    assert error(program.polls(codes)) == "authorization_pending"
    approves(program.world, codes)
    assert program.polls(codes).status_code == 200


def test_a_program_that_is_turned_away_is_told(program: Program) -> None:
    codes = program.asks()
    program.world.answer(DENY_DEVICE, "person:ada", user_code=codes["user_code"])
    assert error(program.polls(codes)) == "access_denied"


def test_a_code_runs_out(program: Program) -> None:
    codes, approved = program.asks(), program.asks()
    approves(program.world, approved)
    program.world.now += limits.DEVICE_CODE_SECONDS * SECOND
    assert error(program.polls(codes)) == error(program.polls(approved)) == "expired_token"


def test_tokens_are_fetched_once_and_again_when_the_answer_was_lost(program: Program) -> None:
    codes = program.asks()
    approves(program.world, codes)
    first = program.polls(codes).json()
    program.world.now += 59 * SECOND
    assert program.polls(codes).json() == {**first, "expires_in": 3_541}
    program.world.now += SECOND
    assert error(program.polls(codes)) == "invalid_grant"
    assert works(program.world, first["access_token"])


def test_a_connection_revoked_before_its_tokens_were_fetched_gives_none(program: Program) -> None:
    codes = program.asks()
    connection_id = approves(program.world, codes)
    program.world.answer(REVOKE_CONNECTION, "person:ada", connection_id=connection_id)
    assert error(program.polls(codes)) == "invalid_grant"


@pytest.mark.parametrize(
    "device_code", ["awd_unknown", "é", "x" * 60_000], ids=["unknown", "other", "long"]
)
def test_an_unknown_device_code_is_no_grant(program: Program, device_code: str) -> None:
    assert error(program.polls({"device_code": device_code})) == "invalid_grant"


# ── renewal ──────────────────────────────────────────────────────────────────────────────────


def test_an_access_token_lives_an_hour_and_is_renewed(program: Program) -> None:
    first = program.is_let_in()
    program.world.now += HOUR
    assert not works(program.world, first["access_token"])
    second = program.renews(first["refresh_token"]).json()
    assert works(program.world, second["access_token"])
    assert second["connection_id"] == first["connection_id"]
    assert {first["refresh_token"], first["access_token"]}.isdisjoint(second.values())
    program.world.now += HOUR
    assert works(program.world, program.renews(second["refresh_token"]).json()["access_token"])


def test_a_spent_refresh_token_answers_its_successor_for_a_minute(program: Program) -> None:
    first = program.is_let_in()
    second = program.renews(first["refresh_token"]).json()
    third = program.renews(second["refresh_token"]).json()
    program.world.now += 59 * SECOND
    assert program.renews(first["refresh_token"]).json() == {**second, "expires_in": 3_541}
    assert program.renews(second["refresh_token"]).json() == {**third, "expires_in": 3_541}
    assert works(program.world, third["access_token"])


def test_a_spent_refresh_token_that_returns_later_ends_its_connection(program: Program) -> None:
    first = program.is_let_in()
    second = program.renews(first["refresh_token"]).json()
    program.world.now += 60 * SECOND
    assert error(program.renews(first["refresh_token"])) == "invalid_grant"
    assert not works(program.world, second["access_token"])
    assert error(program.renews(second["refresh_token"])) == "invalid_grant"
    listed = program.world.answer(CONNECTIONS, "person:ada").connections
    assert [each.connection_id for each in listed if each.revoked_at] == [first["connection_id"]]


def test_a_refresh_token_runs_out(program: Program) -> None:
    first = program.is_let_in()
    program.world.now += limits.REFRESH_TOKEN_DAYS * DAY
    assert error(program.renews(first["refresh_token"])) == "invalid_grant"
    listed = program.world.answer(CONNECTIONS, "person:ada").connections
    assert not any(each.revoked_at for each in listed)


def test_tokens_end_with_their_connection(program: Program) -> None:
    first = program.is_let_in(expires_days=1)
    program.world.now += DAY - 10 * SECOND
    last = program.renews(first["refresh_token"]).json()
    assert last["expires_in"] == 10
    program.world.now += 10 * SECOND
    assert not works(program.world, last["access_token"])
    assert error(program.renews(last["refresh_token"])) == "invalid_grant"


def test_a_disabled_account_renews_nothing(program: Program) -> None:
    codes = program.asks()
    program.world.answer(
        APPROVE_DEVICE, "person:bob", user_code=codes["user_code"], label="x", scopes=["read"]
    )
    first = program.polls(codes).json()
    program.world.answer(DISABLE, "person:ada", account_id="acc_bob")
    assert error(program.renews(first["refresh_token"])) == "invalid_grant"


def test_only_a_refresh_token_renews(program: Program) -> None:
    first = program.is_let_in()
    for other in (first["access_token"], "token-worker", "awr_unknown", "é"):
        assert error(program.renews(other)) == "invalid_grant"


def test_neither_codes_nor_tokens_are_kept(program: Program) -> None:
    codes = program.asks()
    approves(program.world, codes)
    first = program.polls(codes).json()
    program.renews(first["refresh_token"])
    program.world.store.close()
    kept = b"".join(path.read_bytes() for path in program.world.path.parent.glob("*.db*"))
    secrets = [codes["device_code"], first["access_token"], first["refresh_token"]]
    assert hashed(first["refresh_token"]) in kept
    assert not [each for each in secrets if each.encode() in kept]
    program.world.store = program.world.open()
