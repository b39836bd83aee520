"""messages.send: put one message into a conversation and return its receipt."""

from __future__ import annotations

from agentworks.contracts.messages import MessageReceipt, SendMessage
from agentworks.contracts.operation import Caller
from agentworks.store import Transaction
from handlers.messages import posting


def send(tx: Transaction, caller: Caller, request: SendMessage) -> MessageReceipt:
    return posting.post(tx, caller, request)
