"""HTTP addresses, methods and credentials over real sockets: each refusal in JSON, none a fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentworks.contracts import PROTOCOL
from tests.live import Live, Wire, request

SEND = "/api/messages"
MAILBOX = "/api/messages?agent_name=worker"
AGENT = "/api/messages/agents/"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with Live(tmp_path_factory.mktemp("http") / "data") as server:
        yield server


@pytest.fixture(scope="module")
def token(live: Live) -> str:
    """A connection that may use the name worker."""
    token = live.connection("test")
    with live.wire(token) as wire:
        assert wire.ask("POST", "/api/messages/agents", {"agent_name": "worker"}).status == 200
    return token


@pytest.fixture
def wire(live: Live, token: str) -> Iterator[Wire]:
    with live.wire(token) as wire:
        yield wire


# ── queries ──────────────────────────────────────────────────────────────────────────────────

QUERIES = {
    "a name twice": "after=1&after=2",
    "a name twice, once escaped": "after=1&%61fter=1",
    "an unknown name": "afterr=1",
    "a name without a value": "after",
    "a NUL": "after=%00&limit=%00",
    "a NUL in a name": "af%00ter=1",
    "no UTF-8": "after=%ff",
    "a surrogate": "after=%ed%a0%80",
    "a percent sign alone": "after=%zz",
    "a plus is a space": "after=+1",
    "below zero": "after=-1",
    "past the last cursor": "after=9223372036854775808",
    "far below": "after=-9223372036854775809",
    "ten to the thirty": "after=1000000000000000000000000000000",
    "a fraction": "limit=1.5",
    "no limit at all": "limit=0",
    "too long": "after=" + "1" * 40_000,
    "everything at once": "after=x&limit=0&wait_seconds=-1&colour=red",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_a_query_is_as_strict_as_a_body(wire: Wire, golden: Any, query: str) -> None:
    assert golden == wire.ask("GET", f"{MAILBOX}&{query}").shown


@pytest.mark.parametrize("query", ["after=9223372036854775807", "limit=9007199254740992"])
def test_a_number_as_large_as_may_be_is_taken(wire: Wire, query: str) -> None:
    assert wire.ask("GET", f"{MAILBOX}&{query}").json["status"] == "page"


@pytest.mark.parametrize("number", [2**53, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**30])
def test_no_number_is_rounded_and_none_is_a_fault(wire: Wire, number: int) -> None:
    for query in (f"after={number}", f"after=7&limit={number}", f"after=7&wait_seconds=-{number}"):
        answer = wire.ask("GET", f"{MAILBOX}&{query.replace('--', '')}")
        if answer.status == 200:
            assert answer.json["next_cursor"] == (7 if "7&" in query else number)
        else:
            assert answer.status == 400
            assert str(number).strip("-") in answer.json["problems"][0]


# ── addresses and methods ────────────────────────────────────────────────────────────────────


NOWHERE = {
    "the mount": "/api",
    "the mount and a slash": "/api/",
    "nothing": "/api/nothing",
    "below an operation": "/api/messages/nothing",
    "an empty part": "/api//messages",
    "no UTF-8": f"{AGENT}%ff",
    "very long": "/api/" + "x" * 10_000,
}


@pytest.mark.parametrize("path", NOWHERE.values(), ids=NOWHERE.keys())
def test_an_unknown_address_is_not_found(wire: Wire, golden: Any, path: str) -> None:
    assert golden == wire.ask("GET", path).shown


def test_a_slash_at_the_end_changes_nothing(wire: Wire) -> None:
    assert wire.ask("GET", "/api/messages/agents/").json["status"] == "directory"


NAMES = {
    "a NUL": "%00",
    "a slash": "a%2Fb",
    "a space": "wor%20ker",
    "a line feed at the end": "worker%0A",
    "too long": "x" * 65,
    "no ASCII": "w%C3%B6rker",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_name_in_the_path_is_judged_like_any_other(wire: Wire, golden: Any, name: str) -> None:
    assert golden == wire.ask("DELETE", AGENT + name).shown


def test_an_escaped_name_is_the_same_name(wire: Wire) -> None:
    wire.ask("POST", "/api/messages/agents", {"agent_name": "temp"})
    assert wire.ask("DELETE", f"{AGENT}%74emp").json["status"] == "unregistered"


def test_a_name_is_given_once(wire: Wire, golden: Any) -> None:
    assert golden == wire.ask("DELETE", f"{AGENT}worker?agent_name=reviewer").shown


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
def test_a_method_that_is_not_answered_is_refused_with_those_that_are(
    wire: Wire, method: str
) -> None:
    answer = wire.ask(method, SEND)
    assert (answer.status, answer.headers["allow"]) == (405, "POST, GET, HEAD")
    assert answer.json["problems"] == ["this address answers POST, GET, HEAD"]


def test_every_address_answers_its_methods_and_refuses_the_others(live: Live) -> None:
    by_path: dict[str, set[str]] = {}
    for operation in PROTOCOL:
        if operation.http:
            method, path = operation.http.split()
            by_path.setdefault(path.replace("{", "x").replace("}", "x"), set()).add(method)
    with live.wire() as nobody:
        for path, methods in by_path.items():
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
                assert nobody.ask(method, path).status == (401 if method in methods else 405)


def test_head_answers_as_get_does_without_the_body(wire: Wire) -> None:
    got, head = wire.ask("GET", MAILBOX), wire.ask("HEAD", MAILBOX)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == got.headers["content-length"]
    assert wire.ask("GET", MAILBOX).body == got.body


# ── credentials ──────────────────────────────────────────────────────────────────────────────

CREDENTIALS = [
    "authorization:",
    "authorization: Bearer",
    "authorization: Bearer ",
    "authorization: Basic d29ya2VyOnNlY3JldA==",
    "authorization: Bearer aw_nobody",
    "authorization: Bearer one two",
    "authorization: Bearer \xff\xfe",
    "authorization: Bearer " + "x" * 50_000,
]


def test_whoever_has_no_credential_is_told_how_to_get_one(live: Live, golden: Any) -> None:
    with live.wire() as wire:
        answer = wire.ask("GET", MAILBOX)
        assert golden == answer.shown
        assert answer.headers["www-authenticate"] == 'Bearer realm="agentworks"'
        for header in CREDENTIALS:
            assert wire.ask("GET", MAILBOX, headers=[header]).body == answer.body


def test_the_scheme_is_read_in_any_case(live: Live, token: str) -> None:
    with live.wire() as wire:
        assert wire.ask("GET", MAILBOX, headers=[f"Authorization: bEARER  {token}"]).status == 200


def test_the_answers_of_the_interface_are_never_kept_or_guessed_at(wire: Wire) -> None:
    for path in (MAILBOX, "/api/nothing", "/health", "/api/openapi.json"):
        headers = wire.ask("GET", path).headers
        assert headers["content-type"].partition(";")[0] == "application/json"
        assert (headers["cache-control"], headers["x-content-type-options"]) == (
            "no-store",
            "nosniff",
        )


# ── one connection, several requests ─────────────────────────────────────────────────────────


def test_requests_sent_one_after_another_are_answered_in_that_order(live: Live, token: str) -> None:
    cursors = range(1_000, 1_050)
    requests = [request("GET", f"{MAILBOX}&after={each}", None, token) for each in cursors]
    with live.wire(token) as wire:
        wire.send(b"".join(requests))
        assert [wire.answer().json["next_cursor"] for _ in cursors] == list(cursors)


NO_HTTP = [b"hello\r\n\r\n", b"GET /api/\xff HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01"]


# Where two lengths are told, two readers may see two different requests in the same bytes.
NO_HTTP += [
    b"POST /api/messages HTTP/1.1\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} ",
    b"POST /api/messages HTTP/1.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
]


def test_what_is_no_http_is_refused_and_the_server_goes_on(live: Live, wire: Wire) -> None:
    for raw in NO_HTTP:
        with live.wire() as strange:
            strange.send(raw)
            assert strange.answer().status == 400
    assert wire.ask("GET", "/health").json["status"] == "ok"


@pytest.mark.parametrize("piece", [b"x" * 65_536, b"x: y\r\n" * 10_000], ids=["one line", "many"])
def test_a_head_without_end_is_cut_off(live: Live, wire: Wire, piece: bytes) -> None:
    with live.wire() as endless, pytest.raises(ConnectionError):
        endless.send(b"GET /health HTTP/1.1\r\nx: ")
        for _ in range(1_000):
            endless.send(piece)
    assert wire.ask("GET", "/health").json["status"] == "ok"


def test_a_head_as_large_as_may_be_is_read_also_among_others(live: Live, token: str) -> None:
    large = request("GET", MAILBOX, None, token, ["x: " + "y" * 60_000])
    with live.wire(token) as wire:
        wire.send(large * 20)
        assert [wire.answer().status for _ in range(20)] == [200] * 20
