"""A `python` agent that yields."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any


async def reply(turn: Any) -> AsyncIterator[Any]:
    yield "first"
    yield "second"
    yield {"n": 2}
