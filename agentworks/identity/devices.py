"""Programs that ask to be let in, and the codes people approve them by (RFC 8628)."""

from __future__ import annotations

import secrets as randomness

from msgspec import Struct

from agentworks.contracts.refusal import Refused
from agentworks.identity import attempts, tokens
from agentworks.identity.secrets import fresh, hashed
from agentworks.identity.tokens import Denied, Granted
from agentworks.rules import limits, refusals
from agentworks.store import Transaction
from agentworks.tables import devices
from agentworks.tables.devices import Device

CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # RFC 8628 §6.1: no vowels, nothing to mistake for a digit
CODE_LENGTH = 8

_LIFETIME = limits.DEVICE_CODE_SECONDS * 1000  # milliseconds
_INTERVAL = limits.DEVICE_POLL_SECONDS * 1000
_GRACE = 250  # milliseconds by which a punctual poll may arrive early, the way there being uneven

_WAIT = Denied("authorization_pending", "nobody has approved it yet")
_SLOWER = Denied("slow_down", "asked again before the interval was over")
_TURNED_AWAY = Denied("access_denied", "the person turned this program away")
_OVER = Denied("expired_token", "nobody approved in time; ask for a new code")
_UNKNOWN = Denied("invalid_grant", "the device code is unknown, or its tokens were fetched before")
_ANSWERED = {"approved": "approved", "collected": "approved", "denied": "denied"}


class Codes(Struct, frozen=True):
    """What a program is given: `device` to ask with, `user` to show to a person."""

    device: str
    user: str


def fresh_codes() -> Codes:
    letters = [randomness.choice(CODE_LETTERS) for _ in range(CODE_LENGTH)]
    return Codes(fresh("awd"), "".join(letters))


def shown(user_code: str) -> str:
    """`WDJBMJHT` as `WDJB-MJHT`."""
    return f"{user_code[: CODE_LENGTH // 2]}-{user_code[CODE_LENGTH // 2 :]}"


def typed(user_code: str) -> str | None:
    """A code as a person typed it, without case, dashes and spaces; None if it can be none."""
    letters = user_code.upper().replace("-", "").replace(" ", "")
    fits = len(letters) == CODE_LENGTH and set(letters) <= set(CODE_LETTERS)
    return letters if fits else None


def ask(tx: Transaction, codes: Codes, label: str, scopes: str, address: str) -> bool:
    """Let a program wait; False if its user code is another's, so that new ones are needed.

    Raises Refuse(rate_limited) for an address that asks too often and when too many wait.
    """
    limit = attempts.of_device_from(address)
    attempts.refuse_beyond(tx, limit)
    most = limits.DEVICE_CODES_WAITING_MAX
    free_at = devices.free_again_at(tx, most)
    if free_at is not None:
        raise refusals.too_many_waiting(most, free_at)
    if devices.by_user_code(tx, codes.user) is not None:
        return False
    attempts.count(tx, limit)
    devices.add(tx, hashed(codes.device), codes.user, label, scopes, tx.now + _LIFETIME)
    return True


def poll(tx: Transaction, key: bytes, device_code: str) -> Granted | Denied:
    """What the program that waits behind `device_code` is told now (RFC 8628 §3.5)."""
    device = devices.by_secret(tx, hashed(device_code))
    if device is None:
        return _UNKNOWN
    if device.state == "denied":
        return _TURNED_AWAY
    if device.connection_id is not None:
        return _collected(tx, key, device_code, device, device.connection_id)
    if device.expires_at <= tx.now:
        return _OVER
    devices.note_poll(tx, device.secret_hash)
    early = device.polled_at is not None and tx.now < device.polled_at + _INTERVAL - _GRACE
    return _SLOWER if early else _WAIT


def _collected(
    tx: Transaction, key: bytes, device_code: str, device: Device, connection_id: str
) -> Granted | Denied:
    """The tokens, once; and the same ones again for a while, if our answer was lost."""
    if device.state == "collected":
        collected_at = device.polled_at or 0
        if not tokens.repeated(tx, collected_at):
            return _UNKNOWN
        return tokens.granted(tx, key, device_code, connection_id, collected_at)
    if device.expires_at <= tx.now:
        return _OVER
    answer = tokens.granted(tx, key, device_code, connection_id, tx.now)
    if isinstance(answer, Granted):
        devices.collect(tx, device.secret_hash)
        tokens.issue(tx, key, device_code, connection_id)
    return answer


def behind(tx: Transaction, account_id: str, user_code: str) -> Device | Refused:
    """The device a person of this account means, in whatever state it is.

    A wrong code is counted: its Refused is returned, not raised, so that the count is kept.
    Raises Refuse(rate_limited) when this account has tried too many.
    """
    limit = attempts.of_code(account_id)
    attempts.refuse_beyond(tx, limit)
    letters = typed(user_code)
    device = devices.by_user_code(tx, letters) if letters else None
    if device is None:
        attempts.count(tx, limit)
        return refusals.unknown_code().refused
    if device.state == "pending" and device.expires_at <= tx.now:
        return refusals.unknown_code().refused
    return device


def waiting(tx: Transaction, account_id: str, user_code: str) -> Device | Refused:
    """As `behind`; a device that was already answered is refused as not pending."""
    device = behind(tx, account_id, user_code)
    if isinstance(device, Device) and device.state != "pending":
        return refusals.code_answered(_ANSWERED[device.state]).refused
    return device
