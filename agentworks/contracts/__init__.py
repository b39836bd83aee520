"""Everything that can be said to this server, and everything it can answer.

The package imports msgspec and nothing else of ours, so a client, a bridge or a
documentation page can know the whole protocol without loading the server.
"""

from __future__ import annotations

from typing import Any

from agentworks.contracts import accounts, agents, calls, crews, files, functions, messages, turns
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
    # asking and calling
    agents.ASK,
    functions.CALL,
    calls.GET,
    calls.REPLY,
    calls.READ_FILE,
    calls.LIST,
    # who is there, and what it is
    agents.LIST,
    functions.LIST,
    functions.DEFINE,
    functions.DELETE,
    crews.APPLY,
    crews.EXPORT,
    crews.GET,
    crews.DELETE,
    crews.SET_MEMBER,
    crews.SET_MESSAGING,
    crews.SET_RUNTIME,
    crews.PAUSE,
    files.LIST,
    files.READ,
    files.WRITE,
    files.DELETE,
    files.SEARCH,
    # inside a running turn
    turns.REPORT_PROGRESS,
    turns.ASK_PERSON,
    turns.REQUEST_INPUT,
    turns.GET_ANSWER,
    turns.SCHEDULE_WAKEUP,
    turns.RESCHEDULE_WAKEUP,
    turns.CANCEL_WAKEUP,
)
