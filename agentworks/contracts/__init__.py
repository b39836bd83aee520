"""Everything that can be said to this server, and everything it can answer.

The package imports msgspec and nothing else of ours, so a client, a bridge or a
documentation page can know the whole protocol without loading the server.
"""

from __future__ import annotations

from typing import Any

from agentworks.contracts import accounts, messages
from agentworks.contracts.operation import Operation

PROTOCOL: tuple[Operation[Any, Any], ...] = (
    messages.SEND,
    messages.SEND_BATCH,
    messages.READ,
    messages.REGISTER,
    messages.UNREGISTER,
    messages.LIST_AGENTS,
    accounts.CONTEXT,
    accounts.CONNECTIONS,
    accounts.CHANGE_CONNECTION,
    accounts.REVOKE_CONNECTION,
    accounts.FIND_DEVICE,
    accounts.APPROVE_DEVICE,
    accounts.DENY_DEVICE,
    accounts.INVITE,
    accounts.ACCOUNTS,
    accounts.DISABLE,
)
