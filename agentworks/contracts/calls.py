"""Calls: one accepted ask or use of a function. Working, then settled once (contract §5)."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from agentworks.contracts.operation import (
    CALLING,
    Operation,
    Scope,
    WaitSeconds,
)
from agentworks.contracts.refusal import RefusalCode

CallId = Annotated[
    Annotated[str, Meta(min_length=1, max_length=128)],
    Meta(description="From the accepted call.", extra={"cli": "CALL"}),
]


#: What a call may stand at: `working` until it is settled; only `timed_out` may still move on.
STATES = ("working", "answered", "completed", "failed", "interrupted", "timed_out", "late")


class ProgressLine(Struct, frozen=True):
    at: str
    line: str


class PendingInput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question that waits for an answer; reply with its request_id. Expiry is no approval."""

    request_id: str
    kind: str
    question: str
    schema: Any = None
    expires_at: str | None = None


class CallFile(Struct, frozen=True, kw_only=True):
    file: str
    size: int


class CallView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What may be known of a call by who made it and by its target's side. The subclasses are its
    statuses.

    `revision` is the cursor of changes: pass it as `after` to wait for the next. `since` is when
    it began to run, or was accepted if it has not. `progress` holds the last five lines;
    `activity` says what the target does right now; `next` states the last sign of life and what
    to do. `files` names the first of many: `more_files` says there are more.
    """

    call_id: str
    target: str
    function: str
    caller: str
    revision: int
    since: str
    next: str
    inbox_id: str | None = None  # of an ask: the conversation it continues
    queued_behind: int = 0
    progress: list[ProgressLine] = field(default_factory=list)
    activity: str = ""
    pending_inputs: list[PendingInput] = field(default_factory=list)
    files: list[CallFile] = field(default_factory=list)
    more_files: bool = False
    run: str | None = None  # of a workflow: its run


class Working(CallView, tag_field="status", tag="working", frozen=True, kw_only=True):
    pass


class Answered(CallView, tag_field="status", tag="answered", frozen=True, kw_only=True):
    answer: str


class Completed(CallView, tag_field="status", tag="completed", frozen=True, kw_only=True):
    answer: str = ""
    result: Any | UnsetType = UNSET
    result_file: str | None = None  # when the result is over 256 KiB


class Failed(CallView, tag_field="status", tag="failed", frozen=True, kw_only=True):
    reason: str
    partial: str = ""


class Interrupted(CallView, tag_field="status", tag="interrupted", frozen=True, kw_only=True):
    """The server stopped while it ran. Nothing is repeated; what was saved is here."""

    reason: str
    last_progress: str = ""


class TimedOut(CallView, tag_field="status", tag="timed_out", frozen=True, kw_only=True):
    """No sign of life for too long: do not wait; an answer may still come, as `late`."""

    reason: str
    partial: str = ""


class Late(CallView, tag_field="status", tag="late", frozen=True, kw_only=True):
    answer: str = ""
    result: Any | UnsetType = UNSET
    result_file: str | None = None


CallAnswer = Working | Answered | Completed | Failed | Interrupted | TimedOut | Late
CALL_ANSWERS: tuple[type[Any], ...] = (
    Working,
    Answered,
    Completed,
    Failed,
    Interrupted,
    TimedOut,
    Late,
)


class GetCall(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    call_id: CallId
    after: Annotated[
        Annotated[int, Meta(ge=0, le=2**63 - 1)] | UnsetType,
        Meta(
            description="The revision you have seen: waiting ends at the first newer one. Left "
            "out, it ends at the next change, question or end."
        ),
    ] = UNSET
    wait_seconds: WaitSeconds = 0


class AwaitCall(GetCall, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """How whoever asked or called goes on waiting: for the end or for a question, not for each
    line of progress. No surface takes it."""


class Reply(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    call_id: CallId
    request_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=128)],
        Meta(description="The question's id, from pending_inputs.", extra={"cli": "request"}),
    ]
    answer: Annotated[
        Any,
        Meta(description="Text, or what the question's schema asks for. On the CLI, - is stdin."),
    ]


class Replied(Struct, frozen=True, kw_only=True, tag_field="status", tag="replied"):
    call_id: str
    request_id: str
    next: str


class ReadFile(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    call_id: CallId
    file: Annotated[
        Annotated[str, Meta(max_length=1024)],
        Meta(
            description="A file of the call; left out, the list of its files."
            " On the CLI, - is stdin."
        ),
    ] = ""
    offset: Annotated[
        Annotated[int, Meta(ge=0, le=2**63 - 1)], Meta(description="First byte of the page.")
    ] = 0
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=2**53)],
        Meta(description="Bytes per page; more than 2 MiB gives 2 MiB."),
    ] = 262_144


class FilePage(Struct, frozen=True, kw_only=True, tag_field="status", tag="file"):
    """`encoding` is utf-8 or base64. `changed` is true when the file is not as it was listed."""

    file: str
    content: str
    encoding: str
    offset: int
    next_offset: int | None
    size: int
    changed: bool


class FileList(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="files"
):
    """By name; at most 1,000 are listed, and `more` says there are more."""

    files: list[CallFile]
    more: bool = False


class ListCalls(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType,
        Meta(description="Only calls of this agent, by name or id."),
    ] = UNSET
    state: Annotated[
        Annotated[str, Meta(pattern=rf"^({'|'.join(STATES)})$(?!\n)")] | UnsetType,
        Meta(description="Only calls that stand there: working, answered, completed, …"),
    ] = UNSET
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=2**53)], Meta(description="More than 100 gives 100.")
    ] = 30
    before: Annotated[
        Annotated[str, Meta(pattern=r"^[0-9]{1,16}-[A-Za-z0-9_]{1,100}$(?!\n)")] | UnsetType,
        Meta(description="The next_before of the page before this one."),
    ] = UNSET


class CallLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    call_id: str
    target: str
    function: str
    state: str
    caller: str
    accepted_at: str
    settled_at: str | None = None


class CallList(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="calls"
):
    """Newest first. `next_before` leads to older ones, as long as there may be any; a page that
    looked for a rare state may be short, or empty, before that."""

    calls: list[CallLine]
    next_before: str | None = None


GET: Operation[GetCall, CallAnswer] = Operation(
    name="calls.get",
    about="Progress and result of a call, waiting for any change if asked to.",
    request=GetCall,
    answers=CALL_ANSWERS,
    scope=Scope.READ,
    offered_to=CALLING,
    refuses=(RefusalCode.NOT_FOUND,),
    reads=True,
    http="GET /api/calls/{call_id}",
    cli="calls show",
    cli_watch="calls watch",
    tools=("get_call", "get_function_call", "functions:status"),
    wait_default=20,
)

REPLY: Operation[Reply, Replied] = Operation(
    name="calls.reply",
    about="Answer a question a running call has asked.",
    request=Reply,
    answers=(Replied,),
    scope=Scope.RUN,
    offered_to=CALLING,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.NOT_PENDING),
    http="POST /api/calls/{call_id}/replies",
    cli="calls reply",
    tools=("reply_function_call", "functions:reply"),
)

READ_FILE: Operation[ReadFile, FilePage | FileList] = Operation(
    name="calls.read_file",
    about="A page of a file a call has produced, or the list of its files.",
    request=ReadFile,
    answers=(FilePage, FileList),
    scope=Scope.READ,
    offered_to=CALLING,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.EXPIRED),
    reads=True,
    http="GET /api/calls/{call_id}/files",
    cli="calls files",
    tools=("read_file", "functions:read"),
)

LIST: Operation[ListCalls, CallList] = Operation(
    name="calls.list",
    about="The calls you made or whose target you own, newest first.",
    request=ListCalls,
    answers=(CallList,),
    scope=Scope.READ,
    offered_to=CALLING,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.AMBIGUOUS_TARGET),
    reads=True,
    http="GET /api/calls",
    cli="calls list",
)
