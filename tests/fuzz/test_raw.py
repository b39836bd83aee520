"""Bytes a machine makes up, for all that reads them first: taken or refused, never a fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from agentworks.contracts import PROTOCOL
from agentworks.contracts.messages import READ, SEND, MessagePage
from agentworks.contracts.refusal import RefusalCode, Refuse, Refused
from agentworks.rules import strict_json
from agentworks.rules.strict_json import NotStrictJson
from agentworks.surfaces import http
from agentworks.surfaces.places import Places
from tests.conftest import World
from tests.made_up import calls, json_values, judged, text_values

MANY = settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))

# ── JSON ─────────────────────────────────────────────────────────────────────────────────────

NASTY = [
    *(b'"', b"\\", b"\\u", b"\\ud83d", b"\\ude00", b"\\u0000", b"\x00", b"\xff", b"\xed\xa0\x80"),
    *(b"{", b"}", b"[", b"]", b",", b":", b"[" * 70, b'{"a":' * 70, b'{"a":1,"a":2}', b" " * 99),
    *(b"NaN", b"-Infinity", b"1e400", b"-0", b"0.1e-400", b"9" * 5_000, b"1" * 400 + b".5"),
    b"\xef\xbb\xbf",
]
written = json_values.map(lambda value: json.dumps(value, ensure_ascii=False).encode())
pieces = written | some.sampled_from(NASTY) | some.binary(max_size=6)
spliced = some.lists(pieces, max_size=5).map(b"".join)


def depth(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inside), default=0) if isinstance(value, dict | list) else 0


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


@MANY
@given(spliced | some.binary(max_size=40) | written)
def test_json_is_read_as_every_reader_would_or_refused_in_words(raw: bytes) -> None:
    try:
        value = strict_json.parse(raw)
    except NotStrictJson as refused:
        assert 1 <= len(refused.problems) <= 21
        for problem in refused.problems:
            assert problem.encode() and len(problem) < 500
    else:
        assert value == json.loads(raw)
        assert depth(value) <= 64
        assert all(strict_json.text_problem(text) is None for text in strings(value))
        again = json.dumps(value, allow_nan=False).encode()
        assert strict_json.parse(again) == value


@MANY
@given(json_values)
def test_what_has_one_meaning_is_never_refused(value: Any) -> None:
    for ascii_only in (True, False):
        written_so = json.dumps(value, ensure_ascii=ascii_only)
        if all(strict_json.text_problem(text) is None for text in strings(value)):
            assert strict_json.parse(written_so) == value
            assert strict_json.parse(written_so.encode()) == value


# ── arguments ────────────────────────────────────────────────────────────────────────────────


@settings(MANY, max_examples=500)
@given(calls(json_values))
def test_whatever_is_sent_as_json_is_judged(call: tuple[Any, dict[str, Any]]) -> None:
    judged(*call)


@MANY
@given(calls(text_values))
def test_whatever_stands_in_an_address_is_judged(call: tuple[Any, dict[str, Any]]) -> None:
    judged(*call)


ODD_QUERY = [b"&", b"=", b"%", b"%00", b"%ff", b"%ed%a0%80", b"+", b";", b"after", b"\xff"]
ODD_PATH = [b"/api", b"/messages", b"/agents", b"/", b"%2f", b"%ff"]


def made_of(odd: list[bytes]) -> some.SearchStrategy[bytes]:
    """Bytes that are put together from these and from any others."""
    return some.lists(some.sampled_from(odd) | some.binary(max_size=3), max_size=9).map(b"".join)


@MANY
@given(made_of(ODD_QUERY))
def test_a_query_gives_text_or_a_refusal(query: bytes) -> None:
    try:
        given_so = http.from_query(query)
    except Refuse as refusal:
        assert refusal.refused.code is RefusalCode.INVALID_INPUT and refusal.refused.problems
    else:
        for text in strings(given_so):
            assert strict_json.text_problem(text) is None


@MANY
@given(made_of(ODD_PATH))
def test_an_address_leads_somewhere_or_nowhere(path: bytes) -> None:
    place = Places(PROTOCOL).at(path)
    assert place is None or place.methods


# ── cursors ──────────────────────────────────────────────────────────────────────────────────

COUNT = 120


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A reviewer whose mailbox holds 120 messages, 24 to a conversation."""
    folder: Path = tmp_path_factory.mktemp("full")
    world = World(folder, "two_agents")
    inbox = ""
    for number in range(COUNT):
        where = {"inbox_id": inbox} if number % 24 else {"target": "agent:reviewer"}
        inbox = world.answer(SEND, "laptop", message=f"message {number}", **where).inbox_id
    yield world
    world.close()


edges = some.sampled_from([2**53, 2**63 - 1, 2**63, 10**30])
numbers = some.integers(-3, COUNT + 3) | some.integers() | edges
spelled = numbers | numbers.map(str) | numbers.map(float) | json_values


@settings(MANY, max_examples=500)
@given(after=spelled, limit=spelled, wait=some.sampled_from([0, "0", -1, "x", None, 0.0]))
def test_a_page_is_what_lies_after_the_cursor_or_a_refusal(
    full: World, after: Any, limit: Any, wait: Any
) -> None:
    args = {"agent_name": "reviewer", "after": after, "limit": limit, "wait_seconds": wait}
    page = full.answer(READ, "reviewer", **args)
    if isinstance(page, Refused):
        assert page.code is RefusalCode.INVALID_INPUT
        return
    assert isinstance(page, MessagePage)
    start, size = int(after), min(int(limit), 100)
    wanted = [f"message {number}" for number in range(COUNT)][start : start + size]
    assert [each.message for each in page.messages] == wanted
    assert page.next_cursor == start + len(wanted)
