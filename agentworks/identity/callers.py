"""From a credential to a Caller, read anew in every transaction: revocation is seen at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from agentworks.contracts.operation import Caller, CallerKind, Scope
from agentworks.identity import turns
from agentworks.identity.secrets import hashed
from agentworks.rules import refusals
from agentworks.store import Snapshot
from agentworks.tables import accounts, connections, sessions

#: Reads the caller's rows as they are now. Raises Refuse(not_signed_in) if any has ended.
Who = Callable[[Snapshot], Caller]

_EVERY_SCOPE = frozenset(Scope)


def nobody(db: Snapshot) -> Caller:
    """A request without a credential."""
    raise refusals.not_signed_in()


def bearer(authorization: str | None) -> Who:
    """The connection, or the running turn, behind an `Authorization` header (RFC 6750)."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return nobody
    if token.strip().startswith(f"{turns.PREFIX}_"):
        return turns.turn(token.strip())
    secret_hash = hashed(token.strip())

    def who(db: Snapshot) -> Caller:
        known = db.memo.get(secret_hash)
        if known is None:
            known = db.memo[secret_hash] = found(db)
        return known

    def found(db: Snapshot) -> Caller:
        holder = connections.by_token(db, secret_hash)
        account = accounts.by_id(db, holder.account_id) if holder else None
        if holder is None or account is None or account.disabled_at is not None:
            raise refusals.not_signed_in()
        return Caller(
            kind=CallerKind.CONNECTION,
            account_id=account.account_id,
            account_name=account.name,
            scopes=scopes_of(holder.scopes),
            owner=bool(account.owner),
            connection_id=holder.connection_id,
            label=holder.label,
            bounds=targets_of(holder.targets),
        )

    return who


def session(secret: str | None) -> Who:
    """The person behind a browser's session cookie."""
    if not secret:
        return nobody
    secret_hash = hashed(secret)

    def who(db: Snapshot) -> Caller:
        person = sessions.by_secret(db, secret_hash)
        if person is None:
            raise refusals.not_signed_in()
        return Caller(
            kind=CallerKind.PERSON,
            account_id=person.account_id,
            account_name=person.account_name,
            scopes=_EVERY_SCOPE,
            owner=bool(person.owner),
            label=person.account_name,
        )

    return who


@lru_cache(maxsize=64)
def scopes_of(words: str) -> frozenset[Scope]:
    return frozenset(Scope(word) for word in words.split())


@lru_cache(maxsize=1024)
def targets_of(words: str | None) -> frozenset[str] | None:
    return None if words is None else frozenset(words.split())
