"""Refusals: an answer that says no, why, and what to call instead."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field


class RefusalCode(StrEnum):
    """Why nothing was started. In order of precedence: the first that applies is the answer.

    Each comment says when it is given, and whether the same call is worth repeating.
    """

    UNAVAILABLE = "unavailable"  # too much is waiting, or the file is held; retry soon
    TOO_LARGE = "too_large"  # a body or value over its limit; send less
    NOT_SIGNED_IN = "not_signed_in"  # no live credential; sign in, then retry
    NOT_PERMITTED = "not_permitted"  # signed in, but not for this; ask a person
    INVALID_INPUT = "invalid_input"  # the arguments are wrong; follow `try`
    SUBMISSION_CONFLICT = "submission_conflict"  # the id names another request; use a new id
    NOT_FOUND = "not_found"  # unknown, or not yours to see: the same answer for both
    AMBIGUOUS_TARGET = "ambiguous_target"  # several match; choose one of `matches`
    UNKNOWN_FUNCTION = "unknown_function"  # the target has no such function; see `functions`
    EXPIRED = "expired"  # it existed and its retention ended; start anew
    DISABLED = "disabled"  # switched off by its owner; retrying does not help
    NOT_PENDING = "not_pending"  # already answered, ended or withdrawn
    MESSAGING_OFF = "messaging_off"  # the receiver takes no messages from programs
    LOOP_REFUSED = "loop_refused"  # the chain of callers is too long, or circular
    NO_RUNTIME = "no_runtime"  # the target has nothing to run it; configure a runtime
    TEST_MODE = "test_mode"  # a test run may not reach outside its project
    RATE_LIMITED = "rate_limited"  # too many; retry at `retry_at`
    INBOX_FULL = "inbox_full"  # its oldest message is still being delivered; retry later
    BUSY = "busy"  # every slot is taken; retry at `retry_at`
    STORAGE_FULL = "storage_full"  # the disk is full; retry once there is room


class Input(Struct, frozen=True, omit_defaults=True):
    """One input of a function, as a caller must know it (contract §5).

    `type` is string, integer, number, boolean, object or array; `items` says in the same
    words what an array holds. A `default` of null, false, 0 or "" is a default; UNSET is none.
    """

    name: str
    type: str
    required: bool = False
    nullable: bool = False
    description: str = ""
    enum: list[Any] | None = None
    default: Any | UnsetType = UNSET
    examples: list[Any] | None = None
    items: Any = None


class FunctionHelp(Struct, frozen=True):
    """What a caller needs in order to call a function correctly."""

    signature: str
    inputs: list[Input]


class Match(Struct, frozen=True):
    """One of several targets a name could mean."""

    name: str
    id: str
    kind: str


class Refused(Struct, frozen=True, omit_defaults=True, tag_field="status", tag="refused"):
    """Nothing was started. `problems` lists everything wrong at once.

    `try` is the same call as it would be accepted: the flat arguments of the same operation.
    `placeholders` names the paths in `try` whose true value only the caller knows.
    """

    code: RefusalCode
    problems: list[str]
    try_: dict[str, Any] | None = field(name="try", default=None)
    placeholders: list[str] = field(default_factory=list)
    retry_at: str | None = None
    function: FunctionHelp | None = None
    functions: list[str] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)


class Fault(Struct, frozen=True, tag_field="status", tag="fault"):
    """Our bug. The caller learns an id to quote; the details are in the server's log."""

    fault_id: str


class Refuse(Exception):
    """Raised to stop: the transaction is undone and the caller is answered with `refused`."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.code, *refused.problems)
        self.refused = refused
