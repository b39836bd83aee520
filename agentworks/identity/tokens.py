"""Access tokens for an hour, refresh tokens that are used once (RFC 6749 §6, contract §2).

A pair of tokens is derived from the secret that was spent for it, a device code or the refresh
token before. So whoever lost our answer asks again and gets the same one, and nothing but hashes
is ever stored. A refresh token spent again later was copied: its connection ends.
"""

from __future__ import annotations

import base64
import hashlib
import hmac

from msgspec import Struct

from agentworks.identity import grants
from agentworks.identity.secrets import hashed
from agentworks.rules import limits
from agentworks.store import Snapshot, Transaction
from agentworks.tables import connections, tokens

_ACCESS = limits.ACCESS_TOKEN_SECONDS * 1000  # milliseconds
_REFRESH = limits.REFRESH_TOKEN_DAYS * 86_400_000
_REUSE = limits.REFRESH_REUSE_SECONDS * 1000


class Pair(Struct, frozen=True):
    access: str
    refresh: str


class Granted(Struct, frozen=True):
    """What a client is given. `expires_in` is in seconds; `scope` as RFC 6749 §3.3 spells it."""

    access_token: str
    refresh_token: str
    expires_in: int
    scope: str
    connection_id: str


class Denied(Struct, frozen=True):
    """Why not: a word of RFC 6749 §5.2 or RFC 8628 §3.5, and a sentence for a developer."""

    word: str
    why: str


ENDED = Denied("invalid_grant", "the connection was revoked or has run out; sign in again")
_UNKNOWN = Denied("invalid_grant", "the refresh token is unknown or has run out; sign in again")
_COPIED = Denied(
    "invalid_grant",
    "the refresh token was used before; its connection is revoked, as somebody may have copied it",
)


def derived(key: bytes, spent: str) -> Pair:
    """The pair that follows a spent secret: always the same one, guessed by nobody else."""
    return Pair(_derived(key, "awa", spent), _derived(key, "awr", spent))


def issue(tx: Transaction, key: bytes, spent: str, connection_id: str) -> None:
    """Let the pair that follows `spent` work from now on."""
    pair = derived(key, spent)
    tokens.add(tx, hashed(pair.access), connection_id, "access", tx.now + _ACCESS)
    tokens.add(tx, hashed(pair.refresh), connection_id, "refresh", tx.now + _REFRESH)


def granted(
    db: Snapshot, key: bytes, spent: str, connection_id: str, issued_at: int
) -> Granted | Denied:
    """The pair that was issued for `spent`, with the time that is left of it."""
    connection = connections.live(db, connection_id)
    if connection is None:
        return ENDED
    pair = derived(key, spent)
    ends = [issued_at + _ACCESS]
    if connection.expires_at is not None:
        ends.append(connection.expires_at)
    return Granted(
        access_token=pair.access,
        refresh_token=pair.refresh,
        expires_in=max(0, min(ends) - db.now) // 1000,
        scope=connection.scopes,
        connection_id=connection_id,
    )


def renew(tx: Transaction, key: bytes, refresh_token: str) -> Granted | Denied:
    """The successors of a refresh token. A Denied may have ended its connection: commit it."""
    found = tokens.find(tx, hashed(refresh_token))
    if found is None or found.kind != "refresh":
        return _UNKNOWN
    if found.spent_at is not None:
        if repeated(tx, found.spent_at):
            return granted(tx, key, refresh_token, found.connection_id, found.spent_at)
        grants.end(tx, found.connection_id)
        return _COPIED
    if found.expires_at is None or found.expires_at <= tx.now:
        return _UNKNOWN
    if connections.live(tx, found.connection_id) is None:
        return ENDED
    tokens.spend(tx, hashed(refresh_token))
    issue(tx, key, refresh_token, found.connection_id)
    return granted(tx, key, refresh_token, found.connection_id, tx.now)


def repeated(db: Snapshot, answered_at: int) -> bool:
    """True while asking again means that our answer was lost, not that a secret was copied."""
    return db.now < answered_at + _REUSE


def revoke(tx: Transaction, token: str) -> None:
    """End the connection behind any of its tokens (RFC 7009). An unknown token is no matter."""
    found = tokens.find(tx, hashed(token))
    if found is not None:
        grants.end(tx, found.connection_id)


def _derived(key: bytes, prefix: str, spent: str) -> str:
    text = f"{prefix}:{spent}".encode("utf-8", "surrogatepass")
    digest = hmac.new(key, text, hashlib.sha256).digest()
    return f"{prefix}_{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"
