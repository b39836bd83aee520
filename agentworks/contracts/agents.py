"""Agents: Crews and workflows alike. Who is there, what each can do, and asking one in plain words.

The kind is a detail of the target ([S4] principle 2): every `target` takes a name or an id.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from agentworks.contracts.calls import CALL_ANSWERS, CallAnswer
from agentworks.contracts.messages import MESSAGE_LENGTH_MAX, MaybeAgentName
from agentworks.contracts.operation import (
    ASKING,
    LISTING,
    Operation,
    Scope,
    SubmissionId,
    WaitSeconds,
)
from agentworks.contracts.refusal import RefusalCode

Target = Annotated[
    Annotated[str, Meta(min_length=1, max_length=200)],
    Meta(description="A Crew or workflow, by name or id; case and punctuation do not matter."),
]


class ListAgents(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    query: Annotated[
        Annotated[str, Meta(max_length=200)],
        Meta(description="Words to look for in names and descriptions.", extra={"cli": "QUERY"}),
    ] = ""
    kind: Annotated[
        Annotated[str, Meta(pattern="^(crew|workflow|code|relay)$")] | UnsetType,
        Meta(description="Only agents of this kind."),
    ] = UNSET
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=2**53)],
        Meta(description="Agents per page; more than 100 gives 100."),
    ] = 30
    offset: Annotated[
        Annotated[int, Meta(ge=0, le=2**53)], Meta(description="Skip this many agents.")
    ] = 0


class AgentLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a caller needs in order to choose, in 40 to 60 tokens ([S4]).

    `functions` are signatures, the first three and then `+N more`; `busy` says what it is doing;
    `can` is "read only" when this caller may not ask or call it.
    """

    name: str
    id: str
    kind: str
    about: str
    functions: list[str] = []
    busy: str = ""
    can: str = ""


class AgentList(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="agents"
):
    agents: list[AgentLine]
    next: str
    more: bool = False


class Ask(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: Annotated[Target, Meta(extra={"cli": "TARGET"})]
    message: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MESSAGE_LENGTH_MAX)],
        Meta(
            description="The question, in plain words. On the CLI, - is stdin.",
            extra={"cli": "MESSAGE"},
        ),
    ]
    new_conversation: Annotated[
        bool, Meta(description="Start afresh instead of continuing.", extra={"cli": "new"})
    ] = False
    about: Annotated[
        Annotated[str, Meta(min_length=1, max_length=128)] | UnsetType,
        Meta(description="A call_id of yours: put this message into its running turn."),
    ] = UNSET
    agent_name: MaybeAgentName = UNSET
    wait_seconds: WaitSeconds = 0
    submission_id: SubmissionId = UNSET


LIST: Operation[ListAgents, AgentList] = Operation(
    name="agents.list",
    about="List the agents here, what each can do, and who is busy.",
    request=ListAgents,
    answers=(AgentList,),
    scope=Scope.READ,
    offered_to=LISTING,
    reads=True,
    http="GET /api/agents",
    cli="agents list",
    tools=("list_agents",),
)

ASK: Operation[Ask, CallAnswer] = Operation(
    name="agents.ask",
    about="Ask an agent in plain words; one conversation per caller and target, continued.",
    request=Ask,
    answers=CALL_ANSWERS,
    scope=Scope.RUN,
    offered_to=ASKING,
    refuses=(
        RefusalCode.NOT_FOUND,
        RefusalCode.AMBIGUOUS_TARGET,
        RefusalCode.NOT_PENDING,
        RefusalCode.MESSAGING_OFF,
        RefusalCode.LOOP_REFUSED,
        RefusalCode.NO_RUNTIME,
        RefusalCode.RATE_LIMITED,
        RefusalCode.INBOX_FULL,
    ),
    http="POST /api/asks",
    cli="ask",
    tools=("ask",),
    wait_default=20,
)
