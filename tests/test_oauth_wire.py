"""The wire of sign-in: what a form must be, how tokens are handed back, what the metadata names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from agentworks.contracts.accounts import CONNECTIONS
from agentworks.identity import devices, tokens
from agentworks.store import Full, Held, Store
from agentworks.surfaces import oauth
from tests.conftest import World
from tests.oauth_program import Program, error, works

POSTS = ["/oauth/device_authorization", "/oauth/token", "/oauth/revoke"]
METADATA = "/.well-known/oauth-authorization-server"
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def program(world: World) -> Program:
    return Program(world)


# ── revocation ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_a_token_that_is_handed_back_ends_its_connection(program: Program, kind: str) -> None:
    first = program.is_let_in()
    answer = program.post("/oauth/revoke", token=first[kind], token_type_hint="anything")
    assert (answer.status_code, answer.json()) == (200, {})
    assert not works(program.world, first["access_token"])
    assert error(program.renews(first["refresh_token"])) == "invalid_grant"
    listed = program.world.answer(CONNECTIONS, "person:ada").connections
    assert [each.connection_id for each in listed if each.revoked_at] == [first["connection_id"]]


def test_a_script_s_token_can_be_handed_back_too(program: Program) -> None:
    assert program.post("/oauth/revoke", token="token-worker").status_code == 200
    assert not works(program.world, "token-worker")
    assert works(program.world, "token-reviewer")


def test_an_unknown_token_is_no_mistake(program: Program) -> None:
    first = program.is_let_in()
    for _ in range(2):
        assert program.post("/oauth/revoke", token=first["access_token"]).status_code == 200
    assert program.post("/oauth/revoke", token="é").status_code == 200


# ── forms ────────────────────────────────────────────────────────────────────────────────────


def test_what_is_missing_is_told_at_once(program: Program) -> None:
    def told(path: str, **form: str) -> str:
        answer = program.post(path, **form)
        assert error(answer) == "invalid_request"
        return str(answer.json()["error_description"])

    grant = oauth.DEVICE_CODE_GRANT
    assert told("/oauth/revoke", other="x") == "token is required"
    assert told("/oauth/token", other="x") == "grant_type is required"
    assert told("/oauth/token", grant_type="refresh_token") == "refresh_token is required"
    assert told("/oauth/token", grant_type=grant, device_code="") == (
        "device_code is required; client_id is required"
    )


def test_an_unknown_grant_type_is_refused(program: Program) -> None:
    answer = program.post("/oauth/token", grant_type="password", username="a", password="b")
    assert error(answer) == "unsupported_grant_type"


@pytest.mark.parametrize("path", POSTS, ids=lambda path: path.rpartition("/")[2])
@pytest.mark.parametrize(
    "body",
    [
        b"client_id=a&client_id=b&token=a",
        b"x=1&token=a&x=1",
        b"client_id=%ff",
        b"client_id=\xff\xfe",
        b"&".join(b"p%d=1" % number for number in range(51)),
    ],
    ids=["twice", "unknown-twice", "escaped-bytes", "bytes", "many"],
)
def test_a_body_that_is_no_proper_form_is_refused(program: Program, path: str, body: bytes) -> None:
    assert error(program.send("POST", path, content=body, headers=FORM)) == "invalid_request"


@pytest.mark.parametrize("path", POSTS, ids=lambda path: path.rpartition("/")[2])
def test_a_body_of_another_kind_is_refused(program: Program, path: str) -> None:
    assert error(program.send("POST", path, json={"client_id": "a"})) == "invalid_request"
    assert error(program.send("POST", path, content=b"client_id=a")) == "invalid_request"


@pytest.mark.parametrize("path", POSTS, ids=lambda path: path.rpartition("/")[2])
def test_a_body_over_64_kib_is_refused(program: Program, path: str) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * 1_024

    for content in (b"x" * (64 * 1024 + 1), endless()):
        answer = program.send("POST", path, content=content, headers=FORM)
        assert error(answer, 413) == "invalid_request"


def test_what_nobody_knows_is_ignored(program: Program) -> None:
    assert program.asks(resource="https://x.test", client_secret="", nonsense="\x00")


def test_the_charset_of_a_form_may_be_named(program: Program) -> None:
    headers = {"content-type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8"}
    answer = program.send("POST", "/oauth/revoke", content=b"token=x", headers=headers)
    assert answer.status_code == 200


# ── answers ──────────────────────────────────────────────────────────────────────────────────


def test_nothing_of_an_answer_is_kept_on_the_way(program: Program) -> None:
    answers = [program.post(path, client_id="cli", token="x") for path in POSTS]
    for answer in (*answers, program.send("GET", METADATA)):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_metadata_names_what_there_is(program: Program) -> None:
    assert program.send("GET", METADATA).json() == {
        "issuer": "http://server.test",
        "device_authorization_endpoint": "http://server.test/oauth/device_authorization",
        "token_endpoint": "http://server.test/oauth/token",
        "revocation_endpoint": "http://server.test/oauth/revoke",
        "scopes_supported": ["read", "run", "author"],
        "response_types_supported": [],
        "grant_types_supported": [
            "urn:ietf:params:oauth:grant-type:device_code",
            "refresh_token",
        ],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
    }


@pytest.mark.parametrize(
    ("host", "issuer"),
    [
        ("[::1]:8420", "http://[::1]:8420"),
        ("agents.example:80", "http://agents.example:80"),
        ("evil.example:port", "http://base.test"),
        ("a@evil.example", "http://base.test"),
        ("", "http://base.test"),
    ],
    ids=["ipv6", "name", "port", "user", "none"],
)
def test_links_lead_to_the_server_as_the_program_reached_it(
    program: Program, host: str, issuer: str
) -> None:
    answer = program.send("GET", METADATA, headers={"host": host})
    assert answer.json()["issuer"] == issuer


def test_another_method_is_refused(program: Program) -> None:
    for path in POSTS:
        answer = program.send("GET", path)
        assert (error(answer, 405), answer.headers["allow"]) == ("invalid_request", "POST")
    answer = program.send("POST", METADATA)
    assert (error(answer, 405), answer.headers["allow"]) == ("invalid_request", "GET")


@pytest.mark.parametrize(
    ("trouble", "status", "word"),
    [(Full, 507, "server_error"), (Held, 503, "temporarily_unavailable")],
    ids=["full", "held"],
)
def test_a_store_in_trouble_is_said_in_words_of_the_standard(
    program: Program,
    monkeypatch: pytest.MonkeyPatch,
    trouble: type[Exception],
    status: int,
    word: str,
) -> None:
    async def troubled(self: Store, work: Any) -> Any:
        raise trouble

    monkeypatch.setattr(Store, "transact", troubled)
    for answer in (
        program.post("/oauth/device_authorization", client_id="cli"),
        program.renews("awr_x"),
        program.post("/oauth/revoke", token="awa_x"),
    ):
        assert error(answer, status) == word
        assert ("retry-after" in answer.headers) is (trouble is Held)


def test_a_fault_tells_an_id_and_nothing_else(
    program: Program, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*given: Any, **named: Any) -> Any:
        raise ZeroDivisionError("a secret of ours")

    monkeypatch.setattr(tokens, "renew", broken)
    answer = program.renews("awr_x")
    assert error(answer, 500) == "server_error"
    assert answer.json()["error_description"].startswith("fault_")
    assert answer.json()["error_description"] in caplog.text and "awr_x" not in caplog.text


def test_a_user_code_that_is_another_s_is_made_anew(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = iter([devices.Codes(f"awd_{n}", code) for n, code in enumerate("BBC")])
    monkeypatch.setattr(devices, "fresh_codes", lambda: next(given))
    assert [program.asks()["device_code"] for _ in range(2)] == ["awd_0", "awd_2"]
