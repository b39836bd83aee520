"""Passwords: kept as argon2id hashes, which cost time and memory to try (RFC 9106).

Hashing runs beside the event loop and the writer, in two threads of its own: so many passwords are
looked at at once, however many come, and a caller who hangs up frees no place too early.
"""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from agentworks.rules import limits, refusals
from agentworks.rules.sign_in import password_problems

if TYPE_CHECKING:
    from argon2 import PasswordHasher

HASH_PASSES = 3

Done = TypeVar("Done")
_under_way: set[Future[Any]] = set()


async def hashed(password: str) -> str:
    """The hash to keep. Raises Refuse(unavailable) when too many wait."""
    return await _in_turn(lambda: _hasher().hash(_spelled(password)))


async def matches(password_hash: str | None, password: str) -> bool:
    """Whether it is the password of this hash; no hash takes as long, and never matches.

    Raises Refuse(unavailable) when too many wait.
    """
    if password_problems(password):
        return False  # nobody could have chosen it
    return await _in_turn(lambda: _matches(password_hash, password))


def _matches(password_hash: str | None, password: str) -> bool:
    from argon2.exceptions import VerifyMismatchError

    decoy = _decoy()
    try:
        _hasher().verify(password_hash or decoy, _spelled(password))
    except VerifyMismatchError:
        return False
    return password_hash is not None


async def _in_turn(work: Callable[[], Done]) -> Done:
    if len(_under_way) >= limits.PASSWORDS_WAITING_MAX:
        raise refusals.unavailable()
    future = _threads().submit(work)
    _under_way.add(future)
    future.add_done_callback(_under_way.discard)
    return await asyncio.wrap_future(future)


def _spelled(password: str) -> str:
    """One spelling for what looks the same, whatever keyboard wrote it (NIST SP 800-63B)."""
    return unicodedata.normalize("NFKC", password)


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(limits.PASSWORDS_AT_ONCE_MAX, thread_name_prefix="password")


@lru_cache(maxsize=1)
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher  # late: most processes never see a password

    return PasswordHasher(time_cost=HASH_PASSES, memory_cost=limits.HASH_MEMORY_KIB, parallelism=1)


@lru_cache(maxsize=1)
def _decoy() -> str:
    """What an unknown name's password is compared with: nobody knows its password."""
    return _hasher().hash(secrets.token_hex(32))
