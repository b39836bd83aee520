"""Crews as their owners define them: saved whole from files, or changed piece by piece."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from agentworks.contracts.agents import Target
from agentworks.contracts.definitions import (
    CrewDefinition,
    Role,
    TriggerDefinition,
    UploadedFile,
)
from agentworks.contracts.operation import OUTSIDE, PERSON_ONLY, Operation, Scope
from agentworks.contracts.refusal import FunctionHelp, RefusalCode

TargetWord = Annotated[Target, Meta(extra={"cli": "TARGET"})]


# ── saved whole ──────────────────────────────────────────────────────────────────────────────


class ApplyCrew(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    definition: Annotated[Any, Meta(description="crew.toml as JSON; see CrewDefinition.")]
    files: Annotated[
        Annotated[list[Any], Meta(max_length=1_000)] | UnsetType,
        Meta(
            description="All its files; left out, they stay as they are.",
            extra={"items": UploadedFile},
        ),
    ] = UNSET
    target: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType,
        Meta(description="The agent to change; left out, your own of that name, or a new one."),
    ] = UNSET
    dry_run: Annotated[bool, Meta(description="Only say what would change.")] = False


class Change(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One difference. What is new has no `was`, what goes has no `becomes`."""

    what: str  # its place: functions.review_pr.inputs.GROUP.enum, files/review.py
    was: str | None = None
    becomes: str | None = None


class Applied(Struct, frozen=True, kw_only=True, tag_field="status", tag="applied"):
    """`changes` is empty when nothing differs; `saved` says whether something was written.

    `agent_id` is "" for an agent that would be made.
    """

    agent_id: str
    name: str
    created: bool
    saved: bool
    changes: list[Change]


class ExportCrew(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: Target


class Exported(Struct, frozen=True, kw_only=True, tag_field="status", tag="exported"):
    """Applied again, it changes nothing. What the agent itself wrote is not in it."""

    agent_id: str
    definition: CrewDefinition
    files: list[UploadedFile]


# ── looked at and changed piece by piece ─────────────────────────────────────────────────────


class GetCrew(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord


class FunctionView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A function as its callers may know it. `restricted`: only some may call it."""

    function: str
    description: str
    help: FunctionHelp
    restricted: bool = False


class CrewView(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="crew"
):
    """An agent without what only its editors see: instructions, settings of its runtime, files.

    `members` is told to its editors.
    """

    agent_id: str
    name: str
    kind: str
    about: str
    owner: str  # an account's name
    role: Role  # yours
    messaging: bool
    idle_minutes: int
    runtime: str | None  # its name; without one, nothing runs
    functions: list[FunctionView]
    triggers: list[TriggerDefinition]
    members: dict[str, Role] | None = None
    paused_at: str | None = None  # its wakeups and schedules are held since


class DeleteCrew(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord


class CrewDeleted(Struct, frozen=True, kw_only=True, tag_field="status", tag="deleted"):
    agent_id: str


class SetMember(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord
    account_name: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)],
        Meta(description="Whose role.", extra={"cli": "account"}),
    ]
    role: Annotated[
        Role | UnsetType, Meta(description="reader, runner, editor or owner; left out, removed.")
    ] = UNSET


class MemberSet(Struct, frozen=True, kw_only=True, tag_field="status", tag="member"):
    agent_id: str
    account_name: str
    role: Role | None


class SetMessaging(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord
    on: Annotated[bool, Meta(description="Whether programs may send it messages and asks.")]


class MessagingSet(Struct, frozen=True, kw_only=True, tag_field="status", tag="messaging"):
    agent_id: str
    on: bool


class SetRuntime(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord
    runtime: Annotated[
        Any, Meta(description="{name, …settings}, or null for none; on the CLI, - is stdin.")
    ]


class RuntimeSet(Struct, frozen=True, kw_only=True, tag_field="status", tag="runtime"):
    agent_id: str
    runtime: str | None  # its name


class Pause(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType,
        Meta(description="One agent; left out, every wakeup and schedule of this server."),
    ] = UNSET
    on: Annotated[bool, Meta(description="True holds, false lets go.")]


class Paused(Struct, frozen=True, kw_only=True, tag_field="status", tag="paused"):
    """`agent_id` is "" for the whole server."""

    agent_id: str
    on: bool


_TARGETED = (RefusalCode.NOT_FOUND, RefusalCode.AMBIGUOUS_TARGET)


def _editing(
    name: str, about: str, request: Any, answer: Any, http: str, cli: str
) -> Operation[Any, Any]:
    """An operation by which an agent's editors and owners change it."""
    return Operation(
        name=name,
        about=about,
        request=request,
        answers=(answer,),
        scope=Scope.AUTHOR,
        offered_to=OUTSIDE,
        refuses=_TARGETED,
        http=http,
        cli=cli,
    )


APPLY: Operation[ApplyCrew, Applied] = Operation(
    name="crews.apply",
    about="Save a Crew as its file says, or only say what would change.",
    request=ApplyCrew,
    answers=(Applied,),
    scope=Scope.AUTHOR,
    offered_to=OUTSIDE,
    refuses=_TARGETED,
    http="POST /api/crews",
)
EXPORT: Operation[ExportCrew, Exported] = Operation(
    name="crews.export",
    about="The definition and files of a Crew, as they can be applied again; for its editors.",
    request=ExportCrew,
    answers=(Exported,),
    scope=Scope.READ,
    offered_to=OUTSIDE,
    refuses=_TARGETED,
    reads=True,
    http="GET /api/crews/{target}/definition",
)
GET: Operation[GetCrew, CrewView] = Operation(
    name="crews.get",
    about="What an agent is, what it can do, and what you may do with it.",
    request=GetCrew,
    answers=(CrewView,),
    scope=Scope.READ,
    offered_to=OUTSIDE,
    refuses=_TARGETED,
    reads=True,
    http="GET /api/crews/{target}",
    cli="crews get",
)
DELETE = _editing(
    "crews.delete",
    "Remove an agent with its chats, calls and files.",
    DeleteCrew,
    CrewDeleted,
    "DELETE /api/crews/{target}",
    "crews delete",
)
SET_MEMBER = _editing(
    "crews.set_member",
    "Give an account a role on an agent, or take it away.",
    SetMember,
    MemberSet,
    "POST /api/crews/{target}/members",
    "crews member",
)
SET_MESSAGING = _editing(
    "crews.set_messaging",
    "Let programs write to an agent, or stop them; declared functions are not touched.",
    SetMessaging,
    MessagingSet,
    "POST /api/crews/{target}/messaging",
    "crews messaging",
)
SET_RUNTIME = _editing(
    "crews.set_runtime",
    "Say what runs an agent's turns.",
    SetRuntime,
    RuntimeSet,
    "POST /api/crews/{target}/runtime",
    "crews runtime",
)
PAUSE: Operation[Pause, Paused] = Operation(
    name="crews.pause",
    about="Hold the wakeups and schedules of one agent or of the whole server, or let them go.",
    request=Pause,
    answers=(Paused,),
    scope=None,
    offered_to=PERSON_ONLY,
    refuses=_TARGETED,
)
