"""HTTP bodies over real sockets: what has no meaning, or two, is refused and gets no further."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from agentworks.contracts.refusal import Refuse
from agentworks.rules import limits
from agentworks.surfaces import http
from tests.live import Live, Wire, request

MIB = 1024 * 1024
SEND = "/api/messages"
MAILBOX = "/api/messages?agent_name=worker"


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


# ── bodies ───────────────────────────────────────────────────────────────────────────────────

DEEP = b'{"message": ' + b"[" * 64 + b"]" * 64 + b"}"
BODIES = {
    "words": b"hello",
    "nothing but a space": b" ",
    "cut short": b'{"message": "x"',
    "two values": b'{"message": "x"} {}',
    "an array": b'[{"message": "x"}]',
    "null": b"null",
    "NaN": b'{"message": NaN}',
    "minus infinity": b'{"message": -Infinity}',
    "a number too large": b'{"message": 1e400}',
    "an integer too long": b'{"message": ' + b"9" * 5_000 + b"}",
    "a key twice": b'{"target": "agent:a", "message": "x", "target": "agent:b"}',
    "a key twice, once escaped": b'{"target": "agent:a", "t\\u0061rget": "agent:b"}',
    "a key twice, three deep": b'{"message": {"a": [{"b": 1, "b": 2}]}}',
    "nested too deep": DEEP,
    "half a pair": b'{"message": "\\ud83d"}',
    "a pair the wrong way round": b'{"message": "\\ude00\\ud83d"}',
    "a NUL": b'{"message": "a\\u0000b", "target": "\\u0000"}',
    "a NUL in a key": b'{"mess\\u0000age": "x"}',
    "a bare control character": b'{"message": "a\x01b"}',
    "no UTF-8": b'{"message": "\xff\xfe"}',
    "a surrogate as UTF-8": b'{"message": "\xed\xa0\x80"}',
    "an overlong slash": b'{"message": "\xc0\xaf"}',
    "a byte order mark": b'\xef\xbb\xbf{"message": "x"}',
    "UTF-16": '{"message": "x"}'.encode("utf-16"),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_body_with_no_meaning_or_two_is_refused_naming_the_place(
    wire: Wire, golden: Any, body: bytes
) -> None:
    assert golden == wire.ask("POST", SEND, body).shown


@pytest.mark.parametrize("body", [b'{"message": "x",}', b"{'message': 'x'}", b'{"a": /* */ 1}'])
def test_what_only_looks_like_json_is_refused(wire: Wire, body: bytes) -> None:
    refused = wire.ask("POST", SEND, body)
    assert refused.status == 400
    assert refused.json["problems"][0].startswith("not JSON: ")


def test_what_is_wrong_with_a_body_is_told_only_to_those_who_may_ask(live: Live) -> None:
    with live.wire() as nobody:
        assert {nobody.ask("POST", SEND, body).status for body in BODIES.values()} == {401}


def test_a_body_of_64_levels_is_read(wire: Wire) -> None:
    refused = wire.ask("POST", SEND, DEEP.replace(b"[[", b"[").replace(b"]]", b"]"))
    assert refused.json["problems"][0].startswith("message must be text")


def test_no_body_is_no_arguments(wire: Wire, golden: Any) -> None:
    assert golden == wire.ask("POST", SEND).shown


def test_arguments_in_the_wrong_place_are_refused(wire: Wire, golden: Any) -> None:
    in_query = wire.ask("POST", f"{SEND}?target=agent:worker", {"message": "x"})
    in_body = wire.ask("GET", MAILBOX, {"after": 1})
    assert golden == [in_query.shown, in_body.shown]


def test_twenty_thousand_emoji_sent_as_escapes_arrive_whole(wire: Wire) -> None:
    escaped = b"\\ud83d\\ude00" * limits.MESSAGE_LENGTH_MAX
    body = b'{"target": "agent:worker", "message": "%s"}'
    assert wire.ask("POST", SEND, body % escaped).json["receipt"] == "stored"
    inbox = wire.ask("POST", SEND, body % escaped).json["inbox_id"]
    page = wire.ask("GET", f"/api/messages?inbox_id={inbox}&agent_name=worker").json
    assert [each["message"] for each in page["messages"]] == ["\U0001f600" * 20_000]
    refused = wire.ask("POST", SEND, body % (escaped + b"!"))
    assert (refused.status, refused.json["problems"]) == (
        400,
        ["message has 20,001 characters; at most 20,000 are allowed"],
    )


# ── sizes ────────────────────────────────────────────────────────────────────────────────────


def test_a_body_of_sixteen_mebibytes_is_read_and_not_a_byte_more(wire: Wire, golden: Any) -> None:
    body = b'{"message": "x"}'
    assert wire.ask("POST", SEND, body + b" " * (16 * MIB - len(body))).status == 400
    assert golden == wire.ask("POST", SEND, body + b" " * (16 * MIB - len(body) + 1)).shown


def test_fifty_messages_of_full_length_sent_as_escapes_fit_into_one_batch(wire: Wire) -> None:
    escaped = b"\\ud83d\\ude00" * limits.MESSAGE_LENGTH_MAX
    message = b'{"target": "agent:worker", "message": "%s"}' % escaped
    body = b'{"messages": [%s]}' % b",".join([message] * limits.MESSAGES_PER_BATCH_MAX)
    receipts = wire.ask("POST", f"{SEND}/batch", body).json["receipts"]
    assert [each["receipt"] for each in receipts] == ["stored"] * 50


def test_much_is_read_only_from_those_who_may_ask(live: Live) -> None:
    with live.wire("aw_nobody") as nobody:
        nobody.send(request("POST", SEND, None, "aw_nobody", [f"content-length: {16 * MIB}"]))
        nobody.send(b" " * MIB)
        assert nobody.answer().status == 401


def test_a_body_announced_too_large_is_refused_before_it_is_sent(live: Live, token: str) -> None:
    with live.wire(token) as wire:
        announced = [f"content-length: {16 * MIB + 1}", "expect: 100-continue"]
        wire.send(request("POST", SEND, None, token, announced))
        assert wire.answer().status == 413


def test_a_body_in_pieces_is_refused_when_it_has_become_too_large(live: Live, token: str) -> None:
    with live.wire(token) as wire:
        wire.send(request("POST", SEND, None, token, ["transfer-encoding: chunked"]))
        piece = b"%x\r\n%s\r\n" % (MIB, b" " * MIB)
        for _ in range(17):
            wire.send(piece)
        assert wire.answer().status == 413


def test_after_a_body_too_large_the_connection_says_nothing_wrong(live: Live, token: str) -> None:
    with live.wire(token) as wire:
        raw = request("POST", SEND, b" " * (16 * MIB + 1), token)
        try:
            wire.send(raw + request("GET", "/health"))
            assert wire.answer().status == 413
            assert wire.answer().status == 200
        except ConnectionError:
            pass  # closing is right too; an answer to the rest of the body would not be


def test_who_asks_first_whether_to_send_a_body_is_told_to(live: Live, token: str) -> None:
    body = b'{"target": "agent:worker", "message": "May I?"}'
    asking = [f"content-length: {len(body)}", "expect: 100-continue"]
    with live.wire(token) as wire:
        wire.send(request("POST", SEND, None, token, asking))
        assert wire.incoming.readline() == b"HTTP/1.1 100 Continue\r\n"
        assert wire.incoming.readline() == b"\r\n"
        wire.send(body)
        assert wire.answer().json["receipt"] == "stored"


def test_a_body_that_comes_byte_by_byte_is_waited_for(live: Live, token: str) -> None:
    raw = request("POST", SEND, {"target": "agent:worker", "message": "Slowly"}, token)
    with live.wire(token) as wire:
        for place in range(len(raw)):
            wire.send(raw[place : place + 1])
        assert wire.answer().json["receipt"] == "stored"


def test_a_body_in_chunks_is_put_together(live: Live, token: str) -> None:
    with live.wire(token) as wire:
        wire.send(request("POST", SEND, None, token, ["transfer-encoding: chunked"]))
        for piece in (b'{"target": "agent:wor', b'ker", "message": "\xf0\x9f', b'\x98\x80"}', b""):
            wire.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        assert wire.answer().json["receipt"] == "stored"


def test_a_caller_who_hangs_up_in_the_middle_of_a_body_has_said_nothing(
    live: Live, wire: Wire, token: str
) -> None:
    before = count(wire)
    raw = request("POST", SEND, {"target": "agent:worker", "message": "Half"}, token)
    for length in range(len(raw) - 40, len(raw)):
        with live.wire(token) as hasty:
            hasty.send(raw[:length])
    assert wire.ask("GET", "/health").json["status"] == "ok"
    assert count(wire) == before


def test_a_body_that_ends_too_soon_is_no_body() -> None:
    pieces = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Any:
        return pieces.pop(0)

    scope: Any = {"headers": []}
    for _ in range(2):
        with pytest.raises(Refuse, match="the body ended before it was complete"):
            asyncio.run(http.read_body(scope, receive, MIB))
        pieces = [{"type": "http.disconnect"}]


def count(wire: Wire) -> int:
    """How many messages the mailbox has had."""
    cursor = 0
    while page := wire.ask("GET", f"{MAILBOX}&after={cursor}&limit=100").json:
        if page["next_cursor"] == cursor:
            return cursor
        cursor = page["next_cursor"]
    raise AssertionError("a page is never empty JSON")
