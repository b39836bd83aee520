"""An operation: one thing that can be asked of the server, declared once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Generic, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from agentworks.contracts.refusal import RefusalCode

Request = TypeVar("Request", bound=Struct)
Answer = TypeVar("Answer", bound=Struct)

#: The caller's own name for one attempt; remembered, so that a retry finds its receipt.
SubmissionId = Annotated[
    Annotated[str, Meta(min_length=1, max_length=128)] | UnsetType,
    Meta(
        description="Your name for this attempt: reuse it after an uncertain try, "
        "take a new one for new work.",
        extra={"cli": "submission-id"},
    ),
]
WaitSeconds = Annotated[
    Annotated[int, Meta(ge=0, le=2**53)],
    Meta(
        description="Wait up to this many seconds for news; more than 25 waits 25.",
        extra={"cli": "wait"},
    ),
]


class Scope(StrEnum):
    """What kind of operation a connection may ask for (contract §2)."""

    READ = "read"
    RUN = "run"
    AUTHOR = "author"


class CallerKind(StrEnum):
    """Who can ask. The seeds' table "Who can call what" is written in these words."""

    PERSON = "person"
    CONNECTION = "connection"
    CREW_BUILDER = "crew_builder"
    CREW_RUN = "crew_run"
    WORKFLOW_BUILDER = "workflow_builder"
    WORKFLOW_RUN = "workflow_run"
    WORKFLOW_PULSE = "workflow_pulse"
    WORKFLOW_STEP = "workflow_step"
    RELAY_PROGRAM = "relay_program"
    CODE = "code"
    SCHEDULE = "schedule"
    WEBHOOK = "webhook"


PERSON_ONLY = frozenset({CallerKind.PERSON})
OUTSIDE = frozenset({CallerKind.PERSON, CallerKind.CONNECTION})
#: Conversations that may start functions. A Crew's Run mode has no outgoing function tools ([S0]).
CALLING = OUTSIDE | {
    CallerKind.CREW_BUILDER,
    CallerKind.WORKFLOW_BUILDER,
    CallerKind.WORKFLOW_RUN,
    CallerKind.WORKFLOW_PULSE,
    CallerKind.WORKFLOW_STEP,
    CallerKind.CODE,
    CallerKind.SCHEDULE,
    CallerKind.WEBHOOK,
}
#: Conversations that may write to others; an executing workflow step has no message tools ([S0]).
WRITING = frozenset(
    {
        CallerKind.CREW_BUILDER,
        CallerKind.CREW_RUN,
        CallerKind.WORKFLOW_BUILDER,
        CallerKind.WORKFLOW_RUN,
        CallerKind.WORKFLOW_PULSE,
        CallerKind.CODE,
    }
)
ASKING = OUTSIDE | (WRITING - {CallerKind.CREW_RUN})
LISTING = CALLING | WRITING
#: Whoever acts inside a running turn.
INSIDE = WRITING | {CallerKind.WORKFLOW_STEP}


class Caller(Struct, frozen=True):
    """Who is asking. Built from a credential inside the transaction, never from the request."""

    kind: CallerKind
    account_id: str
    account_name: str
    scopes: frozenset[Scope]
    owner: bool = False  # of this server: may invite and disable accounts
    connection_id: str = ""  # empty for a person's session
    label: str = ""
    bounds: frozenset[str] | None = None  # target ids this connection may reach; None is all
    agent_id: str = ""  # inside a turn: the agent that acts
    chat_id: str = ""  # inside a turn: the conversation it acts in
    turn_id: str = ""  # inside a turn: the turn whose token this is
    call_id: str = ""  # inside a turn that works on a call: that call
    replies_only: bool = False  # inside a guest's conversation: it may answer, and begin nothing


class Operation(Struct, Generic[Request, Answer], frozen=True, kw_only=True):
    """The declaration every surface reads. `name` is the operation's identity everywhere.

    `http` is "METHOD /path/{field}"; `cli` is "group command"; a tool "group:action" is one
    action of a grouped MCP tool. A surface that finds None does not offer the operation.
    """

    name: str
    about: str
    request: type[Request]
    answers: tuple[type[Answer], ...]
    scope: Scope | None
    offered_to: frozenset[CallerKind]
    refuses: tuple[RefusalCode, ...] = ()
    reads: bool = False  # answered from a snapshot: changes nothing, and may be performed again
    http: str | None = None
    cli: str | None = None
    tools: tuple[str, ...] = ()
    cli_watch: str | None = None  # the command that repeats it until there is an end, for a person
    wait_default: int = 0  # seconds a CLI or MCP caller waits who does not say; HTTP waits 0

    @property
    def submits(self) -> bool:
        """True when a retry of it can be recognised by its `submission_id`."""
        return "submission_id" in self.request.__struct_fields__

    @property
    def every_refusal(self) -> tuple[RefusalCode, ...]:
        """What it may refuse with: its own codes and those dispatch decides for it."""
        found = {*self.refuses, RefusalCode.NOT_SIGNED_IN, RefusalCode.INVALID_INPUT}
        found.add(RefusalCode.UNAVAILABLE)
        if self.scope is not None or self.offered_to != OUTSIDE:
            found.add(RefusalCode.NOT_PERMITTED)
        if not self.reads:
            found.add(RefusalCode.STORAGE_FULL)
        if self.http and self.http.startswith("POST "):
            found.add(RefusalCode.TOO_LARGE)
        if self.submits:
            found.add(RefusalCode.SUBMISSION_CONFLICT)
        return tuple(code for code in RefusalCode if code in found)


__all__ = [
    "ASKING",
    "CALLING",
    "INSIDE",
    "LISTING",
    "OUTSIDE",
    "PERSON_ONLY",
    "UNSET",
    "WRITING",
    "Answer",
    "Caller",
    "CallerKind",
    "Operation",
    "Request",
    "Scope",
    "SubmissionId",
    "WaitSeconds",
]
