"""accounts.approve_device: let a waiting program in, with what a person grants it."""

from __future__ import annotations

from agentworks.contracts.accounts import ApproveDevice, DeviceApproved
from agentworks.contracts.operation import Caller
from agentworks.contracts.refusal import Refused
from agentworks.identity import devices, grants
from agentworks.rules import refusals
from agentworks.rules.sign_in import label_problems, target_problems
from agentworks.store import Transaction
from agentworks.tables import devices as table


def approve_device(
    tx: Transaction, caller: Caller, request: ApproveDevice
) -> DeviceApproved | Refused:
    problems = label_problems(request.label) + target_problems(request.targets)
    if problems:
        raise refusals.invalid_input(problems)
    device = devices.waiting(tx, caller.account_id, request.user_code)
    if isinstance(device, Refused):
        return device  # returned, not raised: the wrong code stays counted
    connection_id = grants.make(
        tx,
        caller.account_id,
        request.label,
        request.scopes,
        request.targets,
        request.expires_days,
    )
    table.approve(tx, device.secret_hash, connection_id)
    return DeviceApproved(connection_id=connection_id, label=request.label)
