"""A program that signs in over the real wire, without sockets."""

from __future__ import annotations

import re
from typing import Any

import httpx
from litestar import Litestar

from agentworks.contracts.accounts import APPROVE_DEVICE, CONTEXT
from agentworks.identity import callers
from agentworks.surfaces import oauth
from tests.conftest import World

KEY = b"k" * 32
SECOND = 1_000  # milliseconds


class Program:
    """A client that has only the server's address, somewhere on the network."""

    def __init__(self, world: World, address: str = "192.0.2.1") -> None:
        self.world = world
        app: Any = Litestar(oauth.routes(world.store, KEY, "http://base.test"), openapi_config=None)
        self.transport = httpx.ASGITransport(app, client=(address, 1))

    def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        async def exchange() -> httpx.Response:
            async with httpx.AsyncClient(
                transport=self.transport, base_url="http://server.test"
            ) as client:
                return await client.request(method, path, **given)

        return self.world.run(exchange())

    def post(self, path: str, /, **form: str) -> httpx.Response:
        return self.send("POST", path, data=form)

    def asks(self, **form: str) -> dict[str, Any]:
        answer = self.post("/oauth/device_authorization", **{"client_id": "cli", **form})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def polls(self, codes: dict[str, Any]) -> httpx.Response:
        return self.post(
            "/oauth/token",
            grant_type=oauth.DEVICE_CODE_GRANT,
            device_code=codes["device_code"],
            client_id="cli",
        )

    def renews(self, refresh_token: str) -> httpx.Response:
        return self.post("/oauth/token", grant_type="refresh_token", refresh_token=refresh_token)

    def is_let_in(self, **approval: Any) -> dict[str, Any]:
        codes = self.asks()
        approves(self.world, codes, **approval)
        answer: dict[str, Any] = self.polls(codes).json()
        return answer


def approves(world: World, codes: dict[str, Any], **approval: Any) -> str:
    """Ada lets the program in; returns its connection."""
    given = {"user_code": codes["user_code"], "label": "cli", "scopes": ["read", "run"]}
    connection_id = world.answer(APPROVE_DEVICE, "person:ada", **{**given, **approval})
    return str(connection_id.connection_id)


def works(world: World, access_token: str) -> bool:
    asked = world.dispatch(CONTEXT, callers.bearer(f"Bearer {access_token}"), {})
    return getattr(world.run(asked), "account_name", "") == "ada"


def error(response: httpx.Response, status: int = 400) -> str:
    assert response.status_code == status, response.text
    assert re.fullmatch(r"[\x20-\x21\x23-\x5b\x5d-\x7e]+", response.json()["error_description"])
    return str(response.json()["error"])
