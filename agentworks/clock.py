"""The one place time is read and ids are born."""

from __future__ import annotations

import secrets
import time
import uuid
from datetime import UTC, datetime

_DRAWN_AT_ONCE = 256  # ids whose random part is drawn in one system call
_RANDOM_BYTES = 12  # 96 random bits (contract §3 asks for at least 80)

_drawn: list[bytes] = []


def now() -> int:
    """Milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def new_id(prefix: str) -> str:
    """A fresh id such as `msg_018bc…`: when it was born, then 96 random bits; all hexadecimal."""
    return f"{prefix}_{now():011x}{_random().hex()}"


def _random() -> bytes:
    """Fresh random bytes, drawn from the system many ids at a time: a draw is a system call."""
    try:
        return _drawn.pop()
    except IndexError:
        many = secrets.token_bytes(_RANDOM_BYTES * _DRAWN_AT_ONCE)
        _drawn.extend(
            many[start : start + _RANDOM_BYTES] for start in range(0, len(many), _RANDOM_BYTES)
        )
        return secrets.token_bytes(_RANDOM_BYTES)


def new_uuid() -> str:
    """A fresh random UUID, the id of a Crew: 122 random bits (RFC 9562, version 4)."""
    return str(uuid.uuid4())


def rfc3339(milliseconds: int) -> str:
    """`2026-12-01T09:30:00.000Z` (contract §3: UTC, with milliseconds)."""
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment.isoformat()[:19]}.{milliseconds % 1000:03d}Z"


def milliseconds(moment: str) -> int:
    """The reverse of `rfc3339`."""
    return round(datetime.fromisoformat(moment).timestamp() * 1000)
