"""Structured functions: named work with typed inputs, checked before anything starts."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from agentworks.contracts.agents import Target
from agentworks.contracts.calls import CALL_ANSWERS, CallAnswer
from agentworks.contracts.operation import (
    CALLING,
    OUTSIDE,
    Operation,
    Scope,
    SubmissionId,
    WaitSeconds,
)
from agentworks.contracts.refusal import FunctionHelp, Input, RefusalCode

FunctionName = Annotated[
    Annotated[str, Meta(min_length=1, max_length=64)],
    Meta(description="The function's name.", extra={"cli": "function"}),
]


class ListFunctions(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType,
        Meta(description="Only those of this agent, by name or id."),
    ] = UNSET


class FunctionLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A function with all a caller needs; `can` is "read only" for those who may only look."""

    target: str
    target_id: str
    function: str
    description: str
    help: FunctionHelp
    can: str = ""


class FunctionList(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="functions"
):
    """Those that admit this caller, agent by agent; `ask` is built in and stands first.

    `more` is true when there were too many to list: name a target.
    """

    functions: list[FunctionLine]
    more: bool = False


class CallFunction(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: Target
    function: FunctionName
    args: Annotated[
        Any,
        Meta(
            description="The inputs, as one object. On the CLI, - is stdin.",
            extra_json_schema={"type": "object"},
            extra={"pairs": "arg"},
        ),
    ] = UNSET
    wait_seconds: WaitSeconds = 0
    submission_id: SubmissionId = UNSET
    notify: Annotated[
        bool, Meta(description="Inside a conversation: let the outcome prompt one turn there.")
    ] = False


class Busy(Struct, frozen=True, kw_only=True, tag_field="status", tag="busy"):
    """Every slot of the Crew is taken; nothing was stored. The same call may be tried again."""

    code: str
    retry_at: str
    running: list[str]


LIST: Operation[ListFunctions, FunctionList] = Operation(
    name="functions.list",
    about="List the functions that admit you, with their inputs.",
    request=ListFunctions,
    answers=(FunctionList,),
    scope=Scope.READ,
    offered_to=CALLING,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.AMBIGUOUS_TARGET),
    reads=True,
    http="GET /api/functions",
    cli="functions list",
    tools=("list_functions", "functions:list"),
)

CALL: Operation[CallFunction, CallAnswer | Busy] = Operation(
    name="functions.call",
    about="Run one function exactly as given, or be told how to call it.",
    request=CallFunction,
    answers=(*CALL_ANSWERS, Busy),
    scope=Scope.RUN,
    offered_to=CALLING,
    refuses=(
        RefusalCode.NOT_FOUND,
        RefusalCode.AMBIGUOUS_TARGET,
        RefusalCode.UNKNOWN_FUNCTION,
        RefusalCode.LOOP_REFUSED,
        RefusalCode.NO_RUNTIME,
    ),
    http="POST /api/calls",
    cli="functions call",
    tools=("call_function", "functions:call"),
    wait_default=20,
)


class DefineFunction(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: Target
    function: FunctionName
    description: Annotated[
        Annotated[str, Meta(max_length=2_000)],
        Meta(description="What it does, for callers. On the CLI, - is stdin."),
    ] = ""
    inputs: Annotated[
        list[Any],
        Meta(description="Its typed inputs, in order.", extra={"items": Input, "cli": "input"}),
    ] = field(default_factory=list)
    result_schema: Annotated[
        Any,
        Meta(
            description="What its result must be (JSON Schema); on the CLI, - is stdin.",
            extra={"json": True},
        ),
    ] = None
    allowed_callers: Annotated[
        list[str],
        Meta(
            description="kind:id of who may call it; none is all with run access.",
            extra={"cli": "allow"},
        ),
    ] = field(default_factory=list)
    instructions: Annotated[
        Annotated[str, Meta(max_length=100_000)],
        Meta(
            description="What the agent is told to do, and callers are not. On the CLI, - is stdin."
        ),
    ] = ""


class FunctionDefined(Struct, frozen=True, kw_only=True, tag_field="status", tag="defined"):
    target_id: str
    function: str
    signature: str
    created: bool


class DeleteFunction(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: Target
    function: FunctionName


class FunctionDeleted(Struct, frozen=True, kw_only=True, tag_field="status", tag="deleted"):
    target_id: str
    function: str


DEFINE: Operation[DefineFunction, FunctionDefined] = Operation(
    name="functions.define",
    about="Add a function to an agent, or replace it; everything is checked before it is saved.",
    request=DefineFunction,
    answers=(FunctionDefined,),
    scope=Scope.AUTHOR,
    offered_to=OUTSIDE,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.AMBIGUOUS_TARGET),
    http="POST /api/functions",
    cli="functions define",
    tools=("define_function",),
)

DELETE: Operation[DeleteFunction, FunctionDeleted] = Operation(
    name="functions.delete",
    about="Remove a function. Calls already accepted run to their end.",
    request=DeleteFunction,
    answers=(FunctionDeleted,),
    scope=Scope.AUTHOR,
    offered_to=OUTSIDE,
    refuses=(
        RefusalCode.NOT_FOUND,
        RefusalCode.AMBIGUOUS_TARGET,
        RefusalCode.UNKNOWN_FUNCTION,
    ),
    http="DELETE /api/functions/{target}/{function}",
    cli="functions delete",
    tools=("delete_function",),
)
