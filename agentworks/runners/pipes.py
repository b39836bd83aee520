"""What comes out of a program: drained at once, bounded in memory, whole characters and lines.

asyncio's own `readline` drops a line above 64 KiB and goes on (case C54, measured), so a final
answer would be lost silently; hence these.
"""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncIterator, Callable
from typing import cast

from agentworks.rules import limits
from agentworks.runners.runtime import LineTooLong


class Input(asyncio.BaseProtocol):
    """A program's stdin. Writing never waits: a program that does not read blocks nobody."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None  # aborting it now would raise

    def write(self, text: str) -> bool:
        """False when nobody can read it any more."""
        if self._transport is None or self._transport.is_closing():
            return False
        self._transport.write(text.encode("utf-8", "replace"))
        return True

    def close(self) -> None:
        """End it once everything written has been taken."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End it now, with what was not taken yet."""
        if self._transport is not None:
            closing = self._transport.is_closing()
            if not closing or self._transport.get_write_buffer_size():
                self._transport.abort()  # twice would raise: its end is already on the way


class Output(asyncio.Protocol):
    """A program's stdout. Reads ahead a little, then lets the program wait for its reader.

    Nothing is lost when the reader is slow. `discard` is for output nobody will read: it is
    still drained, so that the program can end, and counted.
    """

    def __init__(self, on_life: Callable[[], None]) -> None:
        self.total = 0  # bytes that came out
        self.ended = asyncio.Event()
        self._on_life = on_life
        self._unread = bytearray()
        self._news = asyncio.Event()
        self._discarding = False
        self._transport: asyncio.ReadTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.ReadTransport, transport)

    def data_received(self, data: bytes) -> None:
        self.total += len(data)
        self._on_life()
        if self._discarding:
            return
        self._unread += data
        self._news.set()
        if len(self._unread) > limits.OUTPUT_UNREAD_BYTES_MAX and self._transport:
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()
        self._news.set()

    async def read(self) -> bytes:
        """What has come since the last read, at least one byte; empty at the end."""
        while not self._unread and not self.ended.is_set():
            self._news.clear()
            await self._news.wait()
        taken = bytes(self._unread)
        self._unread.clear()
        self._flow()
        return taken

    def discard(self) -> None:
        """From now on only count."""
        self._discarding = True
        self._unread.clear()
        self._flow()

    def close(self) -> None:
        if self._transport:
            self._transport.close()

    def _flow(self) -> None:
        if self._transport and not self._transport.is_closing():
            self._transport.resume_reading()


class Tail(asyncio.Protocol):
    """A program's stderr: always drained, its last `keep` bytes kept, all of it counted."""

    def __init__(self, on_life: Callable[[], None], keep: int) -> None:
        self.total = 0
        self.ended = asyncio.Event()
        self._on_life = on_life
        self._keep = keep
        self._kept = bytearray()
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self.total += len(data)
        self._on_life()
        self._kept += data
        if len(self._kept) > 2 * self._keep:  # cut seldom: each cut moves what is kept
            del self._kept[: -self._keep]

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()

    def close(self) -> None:
        if self._transport:
            self._transport.close()

    def last(self, length: int) -> str:
        """The last characters, without the half character a cut may have left in front."""
        kept = self._kept[-self._keep :][-4 * length :]
        return kept.decode("utf-8", "replace").lstrip("\ufffd")[-length:]


async def lines(output: Output, most: int) -> AsyncIterator[str]:
    """Its lines, without their ends (LF or CRLF); a last line needs none.

    Bytes that are no UTF-8 become U+FFFD. Raises LineTooLong above `most` bytes.
    """
    held = bytearray()
    while chunk := await output.read():
        start, search = 0, len(held)
        held += chunk
        while (end := held.find(b"\n", search)) >= 0:
            yield _line(held[start:end], most)
            start = search = end + 1
        del held[:start]
        if len(held) > most:
            break
    if held:
        yield _line(held, most)


def _line(raw: bytearray, most: int) -> str:
    if len(raw) > most:
        raise LineTooLong(f"a line of its output is longer than {most:,} bytes")
    return raw.removesuffix(b"\r").decode("utf-8", "replace")


async def chunks(output: Output) -> AsyncIterator[str]:
    """Its text as it comes; a character cut by two reads is put together."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while chunk := await output.read():
        text = decoder.decode(chunk)
        if text:
            yield text
    rest = decoder.decode(b"", final=True)
    if rest:
        yield rest
