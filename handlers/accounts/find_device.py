"""accounts.find_device: which program waits behind a code, and what it asks for."""

from __future__ import annotations

from agentworks import clock
from agentworks.contracts.accounts import DeviceRequest, FindDevice
from agentworks.contracts.operation import Caller, Scope
from agentworks.contracts.refusal import Refused
from agentworks.identity import devices
from agentworks.rules import refusals
from agentworks.store import Transaction


def find_device(tx: Transaction, caller: Caller, request: FindDevice) -> DeviceRequest | Refused:
    device = devices.behind(tx, caller.account_id, request.user_code)
    if isinstance(device, Refused):
        return device  # returned, not raised: the wrong code stays counted
    if device.state != "pending":
        raise refusals.unknown_code()
    return DeviceRequest(
        user_code=devices.shown(device.user_code),
        label=device.label,
        scopes=[Scope(word) for word in device.scopes.split()],
        asked_at=clock.rfc3339(device.asked_at),
        expires_at=clock.rfc3339(device.expires_at),
    )
