"""The real server in a process of its own, and raw HTTP to speak to it."""

from __future__ import annotations

import contextlib
import json
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

from agentworks import offline

ROOT = Path(__file__).parent.parent
START_SECONDS = 30  # a busy machine is slow to import a server
STOP_SECONDS = 20
_READY = re.compile(r"agentworks serves http://127\.0\.0\.1:(\d+) \(data: (.*)\)\n")


class Live:
    """`agentworks serve` over `folder`, on a free port of this machine.

    `with Live(folder) as server:` starts it and stops it; what it says about itself goes to `log`,
    beside the folder if not told otherwise. A fault in that log fails whoever stops the server.
    `inside` is a command that runs another one, elsewhere.
    """

    def __init__(
        self, folder: Path, *options: str, log: Path | None = None, inside: Sequence[str] = ()
    ) -> None:
        self.folder = folder
        self.options = options
        self.log = log or folder.with_name(f"{folder.name}.log")
        self.inside = inside
        self.port = 0
        self.wires: list[Wire] = []

    def start(self) -> Self:
        command = [sys.executable, "-m", "cli", "serve", "--data", str(self.folder), "--port", "0"]
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                [*self.inside, *command, "--allow-root", *self.options],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.port = int(self._first_line())
        return self

    def _first_line(self) -> str:
        assert self.running.stdout is not None
        ready, _, _ = select.select([self.running.stdout], [], [], START_SECONDS)
        line = self.running.stdout.readline() if ready else ""
        found = _READY.fullmatch(line)
        if found is None:
            if not ready:
                self.running.kill()
            self._gone()
            raise AssertionError(f"no server: {line!r}\n{self.log.read_text('utf-8')}")
        assert found[2] == str(self.folder)
        return found[1]

    def connection(self, label: str, scopes: Sequence[str] = ("read", "run")) -> str:
        """A new connection's token."""
        return str(offline.create_connection(self.folder, label, scopes=list(scopes))["token"])

    def wire(self, token: str | None = None) -> Wire:
        """A connection of HTTP, closed at the latest with the server."""
        self.wires.append(Wire(self.port, token))
        return self.wires[-1]

    def kill(self) -> None:
        """As a power cut would, for this process."""
        self.running.kill()
        self._gone()

    def stop(self) -> None:
        self.running.send_signal(signal.SIGTERM)
        try:
            self._gone()
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        log = self.log.read_text("utf-8")
        assert '"trace"' not in log and '"level": "error"' not in log, log

    def _gone(self) -> None:
        self.running.wait(STOP_SECONDS)
        assert self.running.stdout is not None
        self.running.stdout.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for wire in self.wires:
            wire.close()
        if self.running.poll() is None:
            self.stop()


class Reply(NamedTuple):
    """An HTTP answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def shown(self) -> dict[str, Any]:
        """For a golden: what a caller builds on."""
        return {"status": self.status, "body": self.json}


class Wire:
    """One connection to the server, kept open from request to request."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.port, self.token = port, token
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=40)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming: BinaryIO = self.socket.makefile("rb")

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Sequence[str] = (),
    ) -> Reply:
        """One request and its answer. A `body` that is not bytes is sent as JSON."""
        self.send(request(method, path, body, self.token, headers))
        return self.answer(method)

    def send(self, raw: bytes) -> None:
        self.socket.sendall(raw)

    def answer(self, method: str = "GET") -> Reply:
        """The next answer. Raises ConnectionError when the server has hung up instead."""
        line = self.incoming.readline()
        if not line:
            raise ConnectionError("the server hung up")
        status = int(line.split()[1])
        headers = dict(self._headers())
        if status < 200:
            return self.answer(method)
        size = 0 if method == "HEAD" else int(headers.get("content-length", "0"))
        body = self.incoming.read(size)
        if len(body) < size:
            raise ConnectionError("the server hung up in the middle of its answer")
        return Reply(status, headers, body)

    def _headers(self) -> Iterator[tuple[str, str]]:
        while (line := self.incoming.readline().decode("latin-1").strip()) != "":
            name, _, value = line.partition(":")
            yield name.lower(), value.strip()

    def close(self) -> None:
        self.incoming.close()
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def request(
    method: str,
    path: str,
    body: Any = None,
    token: str | None = None,
    headers: Sequence[str] = (),
) -> bytes:
    """The bytes of one HTTP request."""
    lines = [f"{method} {path} HTTP/1.1", "host: agentworks", *headers]
    if token is not None:
        lines.append(f"authorization: Bearer {token}")
    raw = b""
    if body is not None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines += ["content-type: application/json", f"content-length: {len(raw)}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + raw


def until(what: Any, seconds: float = 10) -> None:
    """Wait until `what()` is true; raises TimeoutError when it never is."""
    ends = time.monotonic() + seconds
    while not what():
        if time.monotonic() > ends:
            raise TimeoutError(what)
        with contextlib.suppress(InterruptedError):
            time.sleep(0.02)
