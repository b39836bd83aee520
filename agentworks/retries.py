"""A retry finds its receipt: the same submission gets the same answer, and starts nothing new.

Recall comes after access and before names, limits and validation (contract §5, "Idempotency"):
a recovered send counts against nothing.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache, reduce
from operator import or_
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from agentworks.contracts.operation import Operation
from agentworks.rules import refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import submissions

_encode = msgspec.json.Encoder(order="sorted").encode


def recall(
    db: Snapshot, holder: str, operation: Operation[Any, Any], request: Struct
) -> Struct | None:
    """The answer once given to this submission, or None if it is new.

    Raises Refuse(submission_conflict) when its id was used for a different request.
    """
    submission_id = getattr(request, "submission_id", UNSET)
    if submission_id is UNSET:
        return None
    earlier = submissions.find(db, holder, operation.name, submission_id)
    if earlier is None:
        return None
    if earlier.fingerprint != fingerprint(request):
        raise refusals.submission_conflict(submission_id)
    answer: Struct = _decoder(operation.answers).decode(earlier.answer)
    return answer


def remember(
    tx: Transaction,
    holder: str,
    operation: Operation[Any, Any],
    request: Struct,
    answer: Struct,
    subject: str,
) -> None:
    """Bind the answer to the request's submission, if it has one. `subject` is what it began."""
    submission_id = getattr(request, "submission_id", UNSET)
    if submission_id is UNSET:
        return
    kept = submissions.Submission(fingerprint(request), _encode(answer))
    submissions.keep(tx, holder, operation.name, submission_id, kept, subject)


def fingerprint(request: Struct) -> bytes:
    """What makes two requests the same: every field but how long the caller would wait."""
    if "wait_seconds" in request.__struct_fields__:
        request = msgspec.structs.replace(request, wait_seconds=0)
    return hashlib.sha256(_encode(request)).digest()


@lru_cache(maxsize=256)
def _decoder(answers: tuple[type, ...]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(reduce(or_, answers))
