"""The command line as a real process, and a loopback stand-in that speaks the server's wire."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qs

import pytest

ROOT = Path(__file__).parent.parent
PATIENCE_SECONDS = 30


class Asked(NamedTuple):
    """A request as the stand-in received it."""

    method: str
    path: str  # with its query
    token: str
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


class Given(NamedTuple):
    """What the stand-in is to answer: an object, or bytes as they are."""

    status: int
    answer: Any
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def body(self) -> bytes:
        return self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer).encode()


HANG_UP = Given(0, b"")  # closes the connection without an answer
SILENCE = Given(-1, b"")  # answers nothing until the stand-in ends

Rule = Callable[[Asked], Given]


class StandIn:
    """A server on loopback that answers by rule and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.queue: list[Given] = []  # used up first, in order
        self.rule: Rule = lambda asked: Given(200, {"status": "ok"})
        self.ended = threading.Event()
        self.arrived = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, asked: Asked) -> Given:
        with self._lock:
            self.asked.append(asked)
            given = self.queue.pop(0) if self.queue else None
        self.arrived.release()
        return given or self.rule(asked)

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            given = stand_in.answer(
                Asked(self.command, self.path, token, self.rfile.read(length) if length else b"")
            )
            self.close_connection = True
            if given is SILENCE:
                stand_in.ended.wait(PATIENCE_SECONDS)
            if given.status <= 0:
                return
            self.send_response(given.status)
            headers = {"Content-Length": str(len(given.body)), **dict(given.headers)}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(given.body)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the tests look at `asked`."""

        def finish(self) -> None:
            try:
                super().finish()
            except OSError:
                pass  # the command line went away, which some tests want

    return Handler


@contextmanager
def stand_in() -> Iterator[StandIn]:
    made = StandIn()
    try:
        yield made
    finally:
        made.close()


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Hand:
    """Runs `agentworks` in an environment of its own."""

    def __init__(self, home: Path, server: str = "", **env: str) -> None:
        self.home = home
        bin_folder = home / "bin"
        bin_folder.mkdir()
        program = bin_folder / "agentworks"
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m cli \"$@\"\n")
        program.chmod(0o755)
        self.env = {
            "PATH": f"{bin_folder}:/usr/local/bin:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            **({"AGENTWORKS_SERVER": server} if server else {}),
            **env,
        }

    @property
    def config(self) -> Path:
        return self.home / ".config/agentworks/config.json"

    def keep(self, **values: Any) -> None:
        """Write the default config file as a login would leave it."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(json.dumps(values))
        self.config.chmod(0o600)

    def kept(self) -> dict[str, Any]:
        return cast(dict[str, Any], json.loads(self.config.read_text()))

    def start(
        self, *words: str | bytes, env: dict[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "cli", *words],
            env={**self.env, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **{"stdin": subprocess.DEVNULL, **options},
        )

    def run(
        self, *words: str | bytes, stdin: bytes = b"", env: dict[str, str] | None = None
    ) -> Done:
        process = self.start(*words, env=env, stdin=subprocess.PIPE)
        return self.ended(process, stdin)

    def ended(self, process: subprocess.Popen[bytes], stdin: bytes | None = None) -> Done:
        out, err = process.communicate(stdin, timeout=PATIENCE_SECONDS)
        return Done(process.returncode, out.decode(), err.decode())

    def shell(self, line: str, env: dict[str, str] | None = None) -> Done:
        """Run a line as a person types it."""
        process = subprocess.Popen(
            ["bash", "-c", line],
            env={**self.env, **(env or {})},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return self.ended(process)


def free_port() -> int:
    """A port of loopback on which nothing listens."""
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


ACCEPTED = {
    "status": "accepted",
    "receipt": "stored",
    "message_id": "msg_1",
    "inbox_id": "inbox_1",
    "conversation_id": "inbox_1",
    "sequence": 1,
    "next": "read inbox_1 for an answer",
}


def message(sequence: int, text: str, sender: str = "agent:worker") -> dict[str, Any]:
    """A message as its receiver reads it."""
    return {
        "message_id": f"msg_{sequence}",
        "inbox_id": "inbox_1",
        "conversation_id": "inbox_1",
        "sequence": sequence,
        "sender": sender,
        "reply_address": "inbox_1",
        "message": text,
        "sent_at": "2026-12-01T09:30:00.000Z",
        "delivery": "stored",
    }


def page(*messages: dict[str, Any], next_cursor: int = 0, **more: Any) -> dict[str, Any]:
    return {"status": "page", "messages": list(messages), "next_cursor": next_cursor, **more}


@pytest.fixture(name="server")
def a_server() -> Iterator[StandIn]:
    with stand_in() as made:
        yield made


@pytest.fixture(name="hand")
def a_hand(tmp_path: Path, server: StandIn) -> Hand:
    """A hand whose token comes from the environment, aimed at the stand-in."""
    return Hand(tmp_path, server.url, AGENTWORKS_TOKEN="token-worker")
