"""The stand-in's sign-in desk, and what a login leaves in the private file."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli_world import Asked, Given, Hand, StandIn

CONTEXT = {"status": "context", "account_name": "owner"}
NOT_SIGNED_IN = {"status": "refused", "code": "not_signed_in", "problems": ["no live credential"]}
PENDING = Given(400, {"error": "authorization_pending"})


class Office:
    """Hands out numbered tokens and accepts only the newest."""

    def __init__(self, server: StandIn) -> None:
        self.issued = 0
        self.pending = 0  # how often a device is asked to wait
        self.lock = threading.Lock()
        server.rule = self.answer

    def answer(self, asked: Asked) -> Given:
        if asked.path == "/oauth/device_authorization":
            return Given(200, device())
        if asked.path == "/oauth/token":
            return self.token(asked.form)
        if asked.path == "/oauth/revoke":
            return Given(200, b"")
        live = asked.token == f"access-{self.issued}"
        return Given(200, CONTEXT) if live else Given(401, NOT_SIGNED_IN)

    def token(self, form: dict[str, str]) -> Given:
        with self.lock:
            if self.pending:
                self.pending -= 1
                return PENDING
            if form["grant_type"] == "refresh_token":
                if form["refresh_token"] != f"refresh-{self.issued}":
                    return Given(400, {"error": "invalid_grant"})
            self.issued += 1
            return Given(
                200,
                {
                    "access_token": f"access-{self.issued}",
                    "refresh_token": f"refresh-{self.issued}",
                    "token_type": "Bearer",
                    "expires_in": 3600,
                    "scope": "read run",
                    "connection_id": "conn_1",
                },
            )


def device(**changed: Any) -> dict[str, Any]:
    link = "http://127.0.0.1/connect"
    return {
        "device_code": "device-1",
        "user_code": "WDJB-MJHT",
        "verification_uri": link,
        "verification_uri_complete": f"{link}?user_code=WDJB-MJHT\x1b[2J",
        "expires_in": 60,
        "interval": 1,
        **changed,
    }


def signed_in(server: StandIn, issued: int = 1, seconds_left: int = 3600) -> dict[str, Any]:
    """What the file holds after a login."""
    return {
        "server": server.url,
        "connection_id": "conn_1",
        "access_token": f"access-{issued}",
        "refresh_token": f"refresh-{issued}",
        "expires_at": int(time.time()) + seconds_left,
    }


@pytest.fixture(name="office")
def an_office(server: StandIn) -> Office:
    return Office(server)


@pytest.fixture(name="hand")
def a_hand_without_a_token(tmp_path: Path, server: StandIn) -> Hand:
    return Hand(tmp_path, server.url)
