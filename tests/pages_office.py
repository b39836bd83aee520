"""A server with pages on a free port, and browsers that read forms and send them back."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import uvicorn

from agentworks.identity import people
from agentworks.server import App

PASSWORD = "correct horse battery"
PATIENCE_SECONDS = 20


class Field(NamedTuple):
    """One input of a form: its attributes, and what a browser would send for it, if anything."""

    attributes: dict[str, str]
    sent: str | None


class Seen(HTMLParser):
    """A page as a browser sees it: its text, its links, and its forms with what is filled in."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, Field]]] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._select = ""
        self.feed(html)

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in given}
        self.tags.append((tag, attributes))
        if tag == "form":
            self.forms.append((attributes.get("action", ""), {}))
        elif tag == "select":
            self._select = attributes["name"]
        elif tag == "option" and ("selected" in attributes or self._select not in self.fields):
            self.fields[self._select] = Field(attributes, attributes.get("value", ""))
        elif tag == "input" and "name" in attributes and "disabled" not in attributes:
            self._input(attributes)

    def _input(self, attributes: dict[str, str]) -> None:
        name, kind = attributes["name"], attributes.get("type", "text")
        sent: str | None = attributes.get("value", "")
        if kind in ("checkbox", "radio") and "checked" not in attributes:
            sent = None
        elif kind == "checkbox":
            sent = "on"
        if sent is not None or name not in self.fields:
            self.fields[name] = Field(attributes, sent)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def fields(self) -> dict[str, Field]:
        return self.forms[-1][1] if self.forms else {}

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


class Browser:
    """Keeps cookies and follows no redirect by itself. `answer` is the last response."""

    def __init__(self, base: str, **headers: str) -> None:
        self.base = base
        self.client = httpx.Client(base_url=base, timeout=PATIENCE_SECONDS, headers=headers)
        self.answer: httpx.Response

    def get(self, path: str) -> Seen:
        self.answer = self.client.get(path)
        return Seen(self.answer.text)

    def follow(self) -> Seen:
        """Where the last answer leads."""
        assert self.answer.status_code == 303, self.answer.text
        return self.get(self.answer.headers["location"])

    def form(self, act: str, at: str | None = None) -> tuple[str, dict[str, str]]:
        """The form on the last page with this button, as it would be sent untouched."""
        for action, fields in Seen(self.answer.text).forms:
            button = fields.get("act")
            if at not in (None, action) or (button and button.sent != act):
                continue
            if button or act in ("approve", "deny"):
                sent = {name: each.sent for name, each in fields.items() if each.sent is not None}
                return action, {**sent, "act": act}
        raise AssertionError(f"no form with the button {act} on {self.answer.url}")

    def press(self, act: str, *, at: str | None = None, **changed: Any) -> Seen:
        """Send that form with some fields changed; None leaves a field out."""
        action, fields = self.form(act, at)
        return self.post(action, {**fields, **changed})

    def post(self, path: str, fields: dict[str, Any], **headers: str) -> Seen:
        sent = {name: value for name, value in fields.items() if value is not None}
        self.answer = self.client.post(path, data=sent, headers=headers)
        return Seen(self.answer.text)

    def sign_in(self, name: str = "ada", password: str = PASSWORD) -> Seen:
        self.get("/sign-in")
        return self.press("sign-in", account_name=name, password=password)

    def join(self, link: str, **chosen: str) -> Seen:
        """Use a one-time link; a browser that is signed in afterwards."""
        self.get(link)
        return self.press("join", **{"password": PASSWORD, "again": PASSWORD, **chosen})

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def place(self) -> str:
        return str(self.answer.headers.get("location", ""))


class Office:
    """A running server. `link` is the owner's one-time link as long as it is not used."""

    def __init__(self, app: App, base: str, link: str) -> None:
        self.app, self.base, self.link = app, base, link
        self._browsers: list[Browser] = []
        self.known: Browser  # a signed-in owner, where a module shares one

    def browser(self, **headers: str) -> Browser:
        self._browsers.append(Browser(self.base, **headers))
        return self._browsers[-1]

    def close(self) -> None:
        for browser in self._browsers:
            browser.client.close()

    def owner(self) -> Browser:
        """Ada, who has just used the first link."""
        browser = self.browser()
        browser.join(self.link, account_name="ada")
        assert browser.place == "/connect", browser.answer.text
        return browser

    def person(self, owner: Browser, name: str) -> Browser:
        """Somebody the owner has invited, signed in."""
        owner.get("/people")
        owner.press("invite", account_name=name)
        found = re.search(r"/welcome/[\w-]+", owner.answer.text)
        assert found, owner.answer.text
        browser = self.browser()
        browser.join(found[0])
        assert browser.status == 303, browser.answer.text
        return browser

    def asks(self, label: str = "laptop", scope: str = "read run") -> dict[str, Any]:
        """A program that waits to be let in; its codes."""
        fields = {"client_id": "test", "label": label, "scope": scope}
        answer = httpx.post(f"{self.base}/oauth/device_authorization", data=fields)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def fetches(self, codes: dict[str, Any]) -> httpx.Response:
        """What the waiting program is told now."""
        grant = "urn:ietf:params:oauth:grant-type:device_code"
        fields = {"grant_type": grant, "device_code": codes["device_code"], "client_id": "test"}
        return httpx.post(f"{self.base}/oauth/token", data=fields)

    def lets_in(self, browser: Browser, label: str = "laptop", /, **chosen: Any) -> dict[str, Any]:
        """A program this person has approved: the answer that holds its tokens."""
        codes = self.asks()
        browser.get(f"/connect/{codes['user_code']}")
        browser.press("approve", **{"label": label, **chosen})
        assert browser.place == "/connect", browser.answer.text
        granted: dict[str, Any] = self.fetches(codes).json()
        return granted

    def context(self, access_token: str) -> httpx.Response:
        """Who the holder of a token is to the server."""
        headers = {"authorization": f"Bearer {access_token}"}
        return httpx.get(f"{self.base}/api/context", headers=headers)

    def raw(self, sent: bytes) -> bytes:
        """The answer to bytes sent as they are."""
        host, _, port = self.base.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as wire:
            wire.sendall(sent)
            wire.shutdown(socket.SHUT_WR)
            parts = []
            while part := wire.recv(65_536):
                parts.append(part)
        return b"".join(parts)


class _Quiet(uvicorn.Server):
    """Runs in a thread, where no signal arrives."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def opened(folder: Path, *, behind_proxy: bool = False) -> Iterator[Office]:
    """A server of its own on a free port; closed and joined afterwards."""
    listening = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = App(folder, base, synchronous="OFF")
    config = uvicorn.Config(
        app.litestar(),
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=behind_proxy,
        forwarded_allow_ips="*" if behind_proxy else None,
    )
    server = _Quiet(config)
    links: list[str | None] = []
    startup = server.startup

    async def announced(sockets: list[socket.socket] | None = None) -> None:
        await startup(sockets)
        links.append(await app.store.transact(people.ensure_owner))

    server.startup = announced  # type: ignore[method-assign]  # to make the link on the loop
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not links:
            assert thread.is_alive() and time.monotonic() < deadline, "the server did not start"
            time.sleep(0.005)
        office = Office(app, base, f"/welcome/{links[0]}")
        try:
            yield office
        finally:
            office.close()
    finally:
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        listening.close()
