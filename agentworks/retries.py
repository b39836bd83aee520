"""A retry finds its receipt: the same submission gets the same answer, and starts nothing new.

Recall comes after access and before names, limits and validation (contract §5, "Idempotency"):
a recovered send counts against nothing. A request has two fingerprints, as it was given and as it
was understood; a retry is recognised by either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache, reduce
from operator import or_
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from agentworks.contracts.operation import Caller, Operation
from agentworks.contracts.refusal import Refuse
from agentworks.rules import refusals
from agentworks.store import Snapshot, Transaction
from agentworks.tables import submissions
from agentworks.tables.submissions import Submission

_encode = msgspec.json.Encoder(order="sorted").encode


def holder(caller: Caller) -> str:
    """Whose submissions these are: an account's, or those of the conversation a turn acts in."""
    return caller.chat_id or caller.account_id


def recall(
    db: Snapshot,
    holder: str,
    operation: Operation[Any, Any],
    request: Struct,
    recover: Callable[[str], Struct] | None = None,
    understood: Callable[[], bytes] | None = None,
) -> Struct | None:
    """The answer to this submission's retry, or None if it is new.

    That is the first answer, or what `recover` says of what the submission began. `understood`
    gives the request's second fingerprint, and is asked only when it matters. Raises
    Refuse(submission_conflict) when the id was used for a different request.
    """
    submission_id = getattr(request, "submission_id", UNSET)
    if submission_id is UNSET:
        return None
    earlier = submissions.find(db, holder, operation.name, submission_id)
    if earlier is None:
        return None
    if earlier.fingerprint != fingerprint(request) and not _meant(earlier, understood):
        raise refusals.submission_conflict(submission_id)
    if recover is not None:
        return recover(earlier.subject)
    answer: Struct = _decoder(operation.answers).decode(earlier.answer)
    return answer


def _meant(earlier: Submission, understood: Callable[[], bytes] | None) -> bool:
    """Whether this request means what the earlier one meant, though it is spelled otherwise."""
    if understood is None or earlier.fingerprint_converted is None:
        return False
    try:
        return understood() == earlier.fingerprint_converted
    except Refuse:
        return False  # as things stand it means nothing


def remember(
    tx: Transaction,
    holder: str,
    operation: Operation[Any, Any],
    request: Struct,
    answer: Struct | None,
    subject: str,
) -> None:
    """Bind the request's submission, if it has one, to the answer and to `subject`, what it began.

    Without an answer, a retry is answered from the subject. How the request was understood is
    what its handler has left in `tx.understood`.
    """
    submission_id = getattr(request, "submission_id", UNSET)
    if submission_id is UNSET:
        return
    kept = Submission(
        fingerprint(request),
        tx.understood,
        b"" if answer is None else _encode(answer),
        subject,
    )
    submissions.keep(tx, holder, operation.name, submission_id, kept)


def fingerprint(request: Struct) -> bytes:
    """What makes two requests the same: every field but how long the caller would wait."""
    if "wait_seconds" in request.__struct_fields__:
        request = msgspec.structs.replace(request, wait_seconds=0)
    return hashlib.sha256(_encode(request)).digest()


def meaning(*values: Any) -> bytes:
    """The fingerprint of a request as it was understood, from the values that say what it means."""
    return hashlib.sha256(_encode(values)).digest()


@lru_cache(maxsize=256)
def _decoder(answers: tuple[type, ...]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(reduce(or_, answers))
