"""People: how they come in, with a one-time link or a password, and how they leave.

Every function that takes the store answers with a `Refused` instead of raising, and hashes
passwords outside any transaction. An attempt is counted before its password is looked at, so
that a thousand at once are counted too; a right password takes the count back.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable
from functools import partial
from typing import TypeVar

from msgspec import Struct

from agentworks.contracts.refusal import Refuse, Refused
from agentworks.identity import attempts, passwords
from agentworks.identity.attempts import Limit
from agentworks.identity.secrets import fresh, hashed
from agentworks.rules import limits, refusals
from agentworks.rules.sign_in import name_problems, password_problems
from agentworks.store import Full, Held, Snapshot, Store, Transaction
from agentworks.tables import accounts, invitations, sessions
from agentworks.tables.accounts import Account
from agentworks.tables.attempts import Attempt
from agentworks.tables.invitations import Invitation

OWNER_NAME = "owner"  # until the owner chooses another

_HOUR = 3_600_000  # milliseconds
_DAY = 24 * _HOUR

Done = TypeVar("Done")


class Session(Struct, frozen=True):
    """A browser that is signed in: the cookie's secret, its forms' token, and whose it is."""

    secret: str
    csrf: str
    account: Account


# ── the first person, and those who are invited ──────────────────────────────────────────────


def ensure_owner(tx: Transaction) -> str | None:
    """Make the owner's account if there is none. Returns the secret of a new one-time link,
    /welcome/<secret>, while the owner has no password; older such links end."""
    owner = owners_account(tx)
    if owner.password_hash is not None:
        return None
    invitations.end_of_owner(tx)
    secret, until = _link(tx)
    invitations.add(tx, hashed(secret), owner.name, until, for_owner=True)
    return secret


def owners_account(tx: Transaction) -> Account:
    """The owner's account, made now if there is none."""
    return accounts.owner(tx) or accounts.add(tx, OWNER_NAME, None, is_owner=True)


def invite(tx: Transaction, name: str) -> tuple[str, int]:
    """A one-time link for a new account of this name: its secret, and until when it is good.

    Raises Refuse for a name that is taken or no name. An older invitation of the name ends.
    """
    problems = name_problems(name)
    if problems:
        raise refusals.invalid_input(problems)
    if accounts.by_name(tx, name) is not None:
        raise refusals.name_taken(name)
    invitations.end_of_name(tx, name)
    secret, until = _link(tx)
    invitations.add(tx, hashed(secret), name, until, for_owner=False)
    return secret, until


def _link(tx: Transaction) -> tuple[str, int]:
    return fresh("awi"), tx.now + limits.INVITATION_HOURS * _HOUR


async def look_at_welcome(store: Store, secret: str) -> Invitation | None:
    """What a link is good for; None when it was used, replaced or has run out.

    Its `account_name` is fixed for an invitation; the owner (`owner` is 1) may choose another.
    """
    found, _ = store.read(lambda db: invitations.find(db, hashed(secret)))
    return found


async def welcome(store: Store, secret: str, name: str, password: str) -> Session | Refused:
    """Use a link once: give its account a name and a password, and sign the person in."""
    return await _answered(_welcome(store, secret, name, password))


async def _welcome(store: Store, secret: str, name: str, password: str) -> Session:
    def look(db: Snapshot) -> None:
        found = invitations.find(db, hashed(secret))
        if found is None:
            raise refusals.link_over()
        problems = name_problems(name) + password_problems(password)
        if problems:
            raise refusals.invalid_input(problems)
        _refuse_name(db, found, name)

    store.read(look)
    password_hash = await passwords.hashed(password)

    def join(tx: Transaction) -> Session:
        found = invitations.find(tx, hashed(secret))
        if found is None:
            raise refusals.link_over()
        _refuse_name(tx, found, name)
        return _session(tx, _joined(tx, found, secret, name, password_hash))

    return await store.transact(join)


def _refuse_name(db: Snapshot, found: Invitation, name: str) -> None:
    if not found.owner and name.lower() != found.account_name.lower():
        raise refusals.invalid_input([f"account_name must be {found.account_name}, as invited"])
    holder = accounts.by_name(db, name)
    if holder is not None and not (found.owner and holder.owner):
        raise refusals.name_taken(name)


def _joined(
    tx: Transaction, found: Invitation, secret: str, name: str, password_hash: str
) -> Account:
    if not found.owner:
        invitations.end(tx, hashed(secret))
        return accounts.add(tx, name, password_hash, is_owner=False)
    owner = accounts.settle_owner(tx, name, password_hash)
    if owner is None:
        raise refusals.link_over()
    invitations.end_of_owner(tx)
    return owner


# ── sessions ─────────────────────────────────────────────────────────────────────────────────


async def sign_in(store: Store, name: str, password: str, address: str) -> Session | Refused:
    """A session for whoever knows the password of this name. `address` is the client's."""
    return await _answered(_sign_in(store, name, password, address))


async def _sign_in(store: Store, name: str, password: str, address: str) -> Session:
    known = not name_problems(name)
    counted = [attempts.of_password_from(address)]
    counted += [attempts.of_password(name)] if known else []
    noted = await store.transact(partial(_admit, counted))
    account, _ = store.read(lambda db: accounts.by_name(db, name) if known else None)
    if not await passwords.matches(_hash_of(account), password) or account is None:
        raise refusals.wrong_password()

    def let_in(tx: Transaction) -> Session:
        if _hash_of(accounts.by_id(tx, account.account_id)) != account.password_hash:
            raise refusals.wrong_password()
        attempts.forgive(tx, attempts.of_password(account.name), noted)
        return _session(tx, account)

    return await store.transact(let_in)


def _admit(counted: list[Limit], tx: Transaction) -> list[Attempt]:
    attempts.refuse_beyond(tx, *counted)
    return attempts.count(tx, *counted)


def _hash_of(account: Account | None) -> str | None:
    """The hash a password must match; None when no password lets anybody in."""
    return None if account is None or account.disabled_at is not None else account.password_hash


def _session(tx: Transaction, account: Account) -> Session:
    secret = fresh("aws")
    sessions.begin(tx, hashed(secret), account.account_id, tx.now + limits.SESSION_DAYS * _DAY)
    return Session(secret, csrf_for(secret), account)


async def sign_out(store: Store, session_secret: str) -> Refused | None:
    """End this session; the others of the account go on."""
    return await _answered(store.transact(lambda tx: sessions.end(tx, hashed(session_secret))))


async def change_password(
    store: Store, session_secret: str, old: str, new: str
) -> Session | Refused:
    """Give the account a new password. Ends all its sessions and returns a new one."""
    return await _answered(_change_password(store, session_secret, old, new))


async def _change_password(store: Store, session_secret: str, old: str, new: str) -> Session:
    problems = password_problems(new)
    if problems:  # told before the old one is looked at, which counts as an attempt
        raise refusals.invalid_input(problems)

    def admit(tx: Transaction) -> tuple[Account, list[Attempt]]:
        account = _holder(tx, session_secret)
        return account, _admit([attempts.of_password(account.name)], tx)

    account, noted = await store.transact(admit)
    if not await passwords.matches(account.password_hash, old):
        raise refusals.invalid_input(["old_password is wrong"])
    password_hash = await passwords.hashed(new)

    def change(tx: Transaction) -> Session:
        if _holder(tx, session_secret).password_hash != account.password_hash:
            raise refusals.invalid_input(["old_password is wrong"])
        accounts.set_password(tx, account.account_id, password_hash)
        sessions.end_all(tx, account.account_id)
        attempts.forgive(tx, attempts.of_password(account.name), noted)
        return _session(tx, account)

    return await store.transact(change)


def _holder(db: Snapshot, session_secret: str) -> Account:
    person = sessions.by_secret(db, hashed(session_secret))
    account = accounts.by_id(db, person.account_id) if person else None
    if account is None:
        raise refusals.not_signed_in()
    return account


# ── forms ────────────────────────────────────────────────────────────────────────────────────


def csrf_for(session_secret: str) -> str:
    """What every form of this session must send back; it tells nothing about the secret."""
    text = session_secret.encode("utf-8", "surrogatepass")
    return hmac.new(text, b"agentworks form", hashlib.sha256).hexdigest()


def csrf_matches(session_secret: str, given: str) -> bool:
    """Whether a form was made for this session. Takes the same time for every wrong answer."""
    sent = given.encode("utf-8", "surrogatepass")
    return hmac.compare_digest(csrf_for(session_secret).encode(), sent)


async def _answered(work: Awaitable[Done]) -> Done | Refused:
    try:
        return await work
    except Refuse as refusal:
        return refusal.refused
    except Full:
        return refusals.storage_full().refused
    except Held:
        return refusals.unavailable().refused
