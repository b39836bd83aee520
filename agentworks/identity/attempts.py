"""Counting what must not be tried without end: passwords, codes, requests of one address."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from msgspec import Struct

from agentworks.rules import limits, refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import attempts
from agentworks.tables.attempts import Attempt

_WINDOW = limits.ATTEMPTS_WINDOW_SECONDS * 1000  # milliseconds
_ADDRESS_LENGTH_MAX = 64  # characters
_NETWORK_BITS = 64  # of an IPv6 address: whoever has one address has its whole network


class Limit(Struct, frozen=True):
    """At most `most` attempts of `subject` within rules/limits.py's window."""

    subject: str
    most: int


def refuse_beyond(db: Snapshot, *counted: Limit) -> None:
    """Raises Refuse(rate_limited), telling when all limits allow the next attempt."""
    since = db.now - _WINDOW
    full = [
        moment
        for each in counted
        if (moment := attempts.nth_newest(db, each.subject, since, each.most)) is not None
    ]
    if full:
        raise refusals.too_many_attempts(max(full) + _WINDOW)


def count(tx: Transaction, *counted: Limit) -> list[Attempt]:
    """Note one attempt of each. What was refused is not counted: its wait would never end."""
    noted = [attempts.add(tx, each.subject) for each in counted]
    return [each for each in noted if each is not None]


def forgive(tx: Transaction, limit: Limit, noted: list[Attempt]) -> None:
    """It was right: `limit` begins anew, and what else was noted for it is taken back."""
    attempts.clear(tx, limit.subject)
    for each in noted:
        attempts.withdraw(tx, each)


def of_password(account_name: str) -> Limit:
    return Limit(f"password:{account_name.lower()}", limits.SIGN_IN_FAILURES_MAX)


def of_password_from(address: str) -> Limit:
    most = limits.SIGN_IN_FAILURES_PER_ADDRESS_MAX
    return Limit(f"password-address:{_network(address)}", most)


def of_code(account_id: str) -> Limit:
    return Limit(f"code:{account_id}", limits.CODE_FAILURES_MAX)


def of_device_from(address: str) -> Limit:
    most = limits.DEVICE_REQUESTS_PER_ADDRESS_MAX
    return Limit(f"device-address:{_network(address)}", most)


def _network(address: str) -> str:
    """What one client is counted as: its IPv4 address, or the network of its IPv6 address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:_ADDRESS_LENGTH_MAX].encode("ascii", "replace").decode()
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    kept = int(found) >> (128 - _NETWORK_BITS) << (128 - _NETWORK_BITS)
    return f"{IPv6Address(kept)}/{_NETWORK_BITS}"
