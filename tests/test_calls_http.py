"""Asks and calls over HTTP: the status says whether it works, has ended, or found no room."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentworks import clock
from agentworks.contracts.agents import ASK
from agentworks.contracts.calls import GET
from agentworks.contracts.functions import CALL
from agentworks.surfaces import http
from tests import calling
from tests.calling import Office

an_office = calling.an_office

SETTINGS = {"target": "Pipeline", "function": "settings"}


def sent(answer: Any) -> tuple[int, dict[str, str]]:
    """The status and headers an answer is sent with."""
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    asyncio.run(http.respond(send, answer, []))
    headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return messages[0]["status"], headers


def test_a_working_call_is_202_and_a_settled_one_200(office: Office) -> None:
    answer = office.answer(CALL, "laptop", **SETTINGS, submission_id="s")
    assert sent(answer)[0] == sent(office.got(answer.call_id))[0] == 202
    assert sent(office.asked())[0] == 202
    for state in ("completed", "failed", "interrupted"):
        office.end(call_id := office.called(), state)
        assert sent(office.got(call_id))[0] == 200
    office.end(answer.call_id, "completed")
    assert sent(office.answer(CALL, "laptop", **SETTINGS, submission_id="s"))[0] == 200


def test_busy_is_429_and_says_when_to_come_back(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        office.called()
    monkeypatch.setattr(clock, "now", lambda: office.now + 2_500)
    status, headers = sent(office.answer(CALL, "laptop", **SETTINGS))
    assert (status, headers["retry-after"]) == (429, "8")


def test_every_call_has_an_address() -> None:
    assert (ASK.http, CALL.http, GET.http) == (
        "POST /api/asks",
        "POST /api/calls",
        "GET /api/calls/{call_id}",
    )
