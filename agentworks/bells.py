"""Bells wake waiting readers after a commit. They carry no news, so losing one loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

_REMEMBERED_MAX = 20_000  # topics whose last ring is remembered; older ones count as rung


class Bells:
    """In-memory wake-ups of one server process. All methods belong to the event loop."""

    def __init__(self) -> None:
        self._count = 0
        self._forgotten = 0  # rings up to here are no longer told apart by topic
        self._last_rung: dict[str, int] = {}
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self.waiters = 0
        self._closed = False

    def now(self) -> int:
        """A ticket taken before reading; a ring after it is never missed."""
        return self._count

    def ring(self, topics: Iterable[str]) -> None:
        for topic in topics:
            self._count += 1
            self._last_rung.pop(topic, None)  # re-inserted below, so the oldest ring stays first
            self._last_rung[topic] = self._count
            for waiter in self._waiting.pop(topic, ()):
                if not waiter.done():
                    waiter.set_result(None)
        while len(self._last_rung) > _REMEMBERED_MAX:
            oldest = next(iter(self._last_rung))
            self._forgotten = self._last_rung.pop(oldest)

    def ring_all(self) -> None:
        """Wake everyone, and whoever has read but does not wait yet: nobody knows what changed."""
        self.ring(list(self._waiting))
        self._count += 1
        self._forgotten = self._count

    def close(self) -> None:
        """Send everyone home: the server stops, and nobody waits from now on."""
        self._closed = True
        self.ring_all()

    async def wait(self, topic: str, since: int, seconds: float, *, is_caller: bool = True) -> bool:
        """True when the topic rang after `since`, or may have; False when patience ran out.

        `waiters` counts callers; the server's own parts wait with `is_caller=False`.
        """
        if self._closed:
            return False
        if self._last_rung.get(topic, 0) > since or self._forgotten > since:
            return True
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _give_up, waiter)
        self._waiting.setdefault(topic, set()).add(waiter)
        self.waiters += is_caller
        try:
            await waiter
        except TimeoutError:
            return False
        finally:
            self.waiters -= is_caller
            timer.cancel()
            self._leave(topic, waiter)
        return True

    def _leave(self, topic: str, waiter: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(topic)
        if waiting is not None:
            waiting.discard(waiter)
            if not waiting:
                del self._waiting[topic]


def _give_up(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError())
