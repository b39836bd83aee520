"""messages.send_batch: up to 50 messages, each judged alone, in order."""

from __future__ import annotations

from typing import Any, cast

from agentworks import decoding, retries
from agentworks.contracts.messages import SEND, BatchReceipts, MessageReceipt, SendBatch
from agentworks.contracts.operation import Caller
from agentworks.contracts.refusal import Refuse, Refused
from agentworks.store import Transaction
from handlers.messages import posting


def send_batch(tx: Transaction, caller: Caller, request: SendBatch) -> BatchReceipts:
    return BatchReceipts(receipts=[judge(tx, caller, each) for each in request.messages])


def judge(tx: Transaction, caller: Caller, given: Any) -> MessageReceipt | Refused:
    """One message's receipt or refusal. A refused message has written nothing."""
    try:
        message = decoding.decode(SEND, given)
        earlier = retries.recall(tx, retries.holder(caller), SEND, message)
        if earlier is not None:
            return cast(MessageReceipt, earlier)
        receipt = posting.post(tx, caller, message)
    except Refuse as refusal:
        return refusal.refused
    retries.remember(tx, retries.holder(caller), SEND, message, receipt, receipt.message_id)
    return receipt
