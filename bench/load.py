"""A closed-loop HTTP/1.1 client: as many connections as callers, each waiting for its answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

HOST = "127.0.0.1"


class Line(asyncio.Protocol):
    """One kept-alive connection that asks one thing at a time."""

    def __init__(self) -> None:
        self._buffer = b""
        self._answer: asyncio.Future[bytes] | None = None
        self.transport: asyncio.Transport | None = None
        self.arrived = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        about = self._buffer[:head].lower()
        at = about.find(b"content-length:")
        end = head + 4 + int(about[at + 15 :].split(b"\r\n", 1)[0])
        if len(self._buffer) < end or self._answer is None:
            return
        self.arrived = time.perf_counter()
        status, body = about[9:12], self._buffer[head + 4 : end]
        self._buffer = self._buffer[end:]
        answer, self._answer = self._answer, None
        if answer.done():
            return
        if status in (b"200", b"202"):
            answer.set_result(body)
        else:
            answer.set_exception(AssertionError(f"{status!r} {body[:300]!r}"))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.cancel()  # whoever still waits for it ends with it

    def ask(self, request: bytes) -> asyncio.Future[bytes]:
        assert self.transport is not None and self._answer is None
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._answer


async def lines(port: int, count: int) -> list[Line]:
    loop = asyncio.get_running_loop()
    return [(await loop.create_connection(Line, HOST, port))[1] for _ in range(count)]


def hang_up(many: list[Line]) -> None:
    for each in many:
        if each.transport is not None:
            each.transport.abort()


def post(path: str, token: str, body: object) -> bytes:
    raw = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
    )
    return head.encode() + raw


def get(path: str, token: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


@dataclass
class Measured:
    """What a load came to: answers per second, and latencies in seconds, sorted."""

    per_second: float
    latencies: list[float] = field(repr=False)

    @property
    def p50(self) -> float:
        return self.latencies[len(self.latencies) // 2]

    @property
    def p99(self) -> float:
        return self.latencies[len(self.latencies) * 99 // 100]


async def drive(
    port: int, callers: int, seconds: float, requests: Callable[[int], Iterator[bytes]]
) -> Measured:
    """Keep `callers` connections busy for `seconds`, after a warm-up of a tenth of it."""
    many = await lines(port, callers)
    warm = time.perf_counter() + seconds / 10
    stop = warm + seconds
    latencies: list[float] = []

    async def caller(line: Line, mine: Iterator[bytes]) -> None:
        while (began := time.perf_counter()) < stop:
            await line.ask(next(mine))
            if began >= warm:
                latencies.append(line.arrived - began)

    try:
        await asyncio.gather(*(caller(line, requests(n)) for n, line in enumerate(many)))
    finally:
        hang_up(many)
    return Measured(len(latencies) / seconds, sorted(latencies))
