"""accounts.deny_device: turn a waiting program away."""

from __future__ import annotations

from agentworks.contracts.accounts import DenyDevice, DeviceDenied
from agentworks.contracts.operation import Caller
from agentworks.contracts.refusal import Refused
from agentworks.identity import devices
from agentworks.store import Transaction
from agentworks.tables import devices as table


def deny_device(tx: Transaction, caller: Caller, request: DenyDevice) -> DeviceDenied | Refused:
    device = devices.waiting(tx, caller.account_id, request.user_code)
    if isinstance(device, Refused):
        return device  # returned, not raised: the wrong code stays counted
    table.deny(tx, device.secret_hash)
    return DeviceDenied(label=device.label)
