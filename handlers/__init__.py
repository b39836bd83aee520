"""One function per operation. This page is the switchboard: every call lands on a line below."""

from __future__ import annotations

from typing import Any

from agentworks.contracts import accounts as a
from agentworks.contracts import messages as m
from agentworks.dispatch import Handler
from handlers.accounts.approve_device import approve_device
from handlers.accounts.change_connection import change_connection
from handlers.accounts.connections import connections
from handlers.accounts.context import context
from handlers.accounts.deny_device import deny_device
from handlers.accounts.disable import disable
from handlers.accounts.find_device import find_device
from handlers.accounts.invite import invite
from handlers.accounts.list import list_accounts
from handlers.accounts.revoke_connection import revoke_connection
from handlers.messages.list_agents import list_agents
from handlers.messages.read import read
from handlers.messages.register import register
from handlers.messages.send import send
from handlers.messages.send_batch import send_batch
from handlers.messages.unregister import unregister

HANDLERS: tuple[Handler[Any, Any], ...] = (
    Handler(m.SEND, send, subject=lambda receipt: receipt.message_id, opens_nothing=True),
    Handler(m.SEND_BATCH, send_batch, opens_nothing=True),
    Handler(m.READ, read),
    Handler(m.REGISTER, register),
    Handler(m.UNREGISTER, unregister),
    Handler(m.LIST_AGENTS, list_agents),
    Handler(a.CONTEXT, context),
    Handler(a.CONNECTIONS, connections),
    Handler(a.CHANGE_CONNECTION, change_connection),
    Handler(a.REVOKE_CONNECTION, revoke_connection),
    Handler(a.FIND_DEVICE, find_device),
    Handler(a.APPROVE_DEVICE, approve_device),
    Handler(a.DENY_DEVICE, deny_device),
    Handler(a.INVITE, invite),
    Handler(a.ACCOUNTS, list_accounts),
    Handler(a.DISABLE, disable),
)
