"""Direct messages: talk without a required result. A receipt proves storage, not work."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from agentworks.contracts.operation import (
    OUTSIDE,
    CallerKind,
    Operation,
    Scope,
    SubmissionId,
    WaitSeconds,
)
from agentworks.contracts.refusal import RefusalCode, Refused

MESSAGE_LENGTH_MAX = 20_000  # Unicode characters; rules/limits.py lists it with the others
#: [S0] "Named external agents". A bare `$` would also match before a final line feed.
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)"

Text = Annotated[
    Annotated[str, Meta(min_length=1, max_length=MESSAGE_LENGTH_MAX)],
    Meta(description="The text, 1 to 20,000 characters, kept as it is. On the CLI, - is stdin."),
]
AgentName = Annotated[
    Annotated[str, Meta(pattern=NAME_PATTERN)],
    Meta(description="A registered name, upper and lower case alike.", extra={"cli": "agent"}),
]
MaybeAgentName = Annotated[
    Annotated[str, Meta(pattern=NAME_PATTERN)] | UnsetType,
    Meta(description="The registered name you speak or read as.", extra={"cli": "agent"}),
]
MaybeInbox = Annotated[
    Annotated[str, Meta(min_length=1, max_length=128)] | UnsetType,
    Meta(description="The conversation's inbox_id.", extra={"cli": "inbox"}),
]
After = Annotated[
    Annotated[int, Meta(ge=0, le=2**63 - 1)],
    Meta(description="The last next_cursor you saved; 0 is the beginning."),
]
Limit = Annotated[
    Annotated[int, Meta(ge=1, le=2**53)],
    Meta(description="Messages per page; more than 100 gives 100."),
]
Delivery = Literal[
    "stored",
    "pending",
    "dispatching",
    "admitted",
    "processed",
    "undeliverable",
    "interrupted",
    "cancelled",
    "typed",
]


class SendMessage(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    message: Text
    target: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType,
        Meta(description="Whom to write to: an agent's name or id, or agent:<name>."),
    ] = UNSET
    inbox_id: MaybeInbox = UNSET
    agent_name: MaybeAgentName = UNSET
    submission_id: SubmissionId = UNSET


class MessageReceipt(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="accepted"
):
    """The message is stored; `inbox_id` is where its answer will appear."""

    receipt: Annotated[Literal["stored", "replicated"], Meta(description="How safe it is.")]
    message_id: str
    inbox_id: str
    conversation_id: str
    sequence: int
    next: str


class SendBatch(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    messages: Annotated[
        Annotated[list[Any], Meta(min_length=1, max_length=50)],
        Meta(
            description="1 to 50 messages, each judged alone, in order.",
            extra={"items": SendMessage},
        ),
    ]


class BatchReceipts(Struct, frozen=True, kw_only=True, tag_field="status", tag="accepted"):
    """One receipt or refusal per message, in the order they were given."""

    receipts: list[MessageReceipt | Refused]


class ReadMessages(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    inbox_id: MaybeInbox = UNSET
    agent_name: MaybeAgentName = UNSET
    after: After = 0
    limit: Limit = 30
    wait_seconds: WaitSeconds = 0


class Message(Struct, frozen=True, kw_only=True):
    """A message as its receiver reads it. Reply to `reply_address`, as `inbox_id`."""

    message_id: str
    inbox_id: str
    conversation_id: str
    sequence: int
    sender: str
    reply_address: str
    message: str
    sent_at: str
    delivery: Delivery


class MessagePage(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="page"
):
    """Oldest first. An empty page means no news; its cursor is the one that was given.

    `gap` is true when older messages than the cursor's next have been removed.
    """

    messages: list[Message]
    next_cursor: int
    epoch: int
    gap: bool = False


class RegisterAgent(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    agent_name: AgentName
    allowed_connection_ids: Annotated[
        Annotated[
            list[Annotated[str, Meta(min_length=1, max_length=128)]],
            Meta(max_length=100),
        ]
        | UnsetType,
        Meta(
            description="Connections of this account that may use the name besides yours; "
            "left out, the list stays as it is.",
            extra={"cli": "allow-connection"},
        ),
    ] = UNSET


class Registration(Struct, frozen=True, kw_only=True, tag_field="status", tag="registered"):
    """An account's named address. A name may return as someone else; `registration_id` tells."""

    registration_id: str
    agent_name: str
    address: str
    allowed_connection_ids: list[str]
    created: bool
    next: str


class UnregisterAgent(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    agent_name: AgentName


class Unregistered(Struct, frozen=True, kw_only=True, tag_field="status", tag="unregistered"):
    registration_id: str
    agent_name: str


class ListNamedAgents(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    pass


class NamedAgent(Struct, frozen=True, kw_only=True):
    """One line of the directory. `yours` says whether this connection may use the name."""

    registration_id: str
    agent_name: str
    address: str
    yours: bool
    registered_at: str
    allowed_connection_ids: list[str] = field(default_factory=list)


class Directory(Struct, frozen=True, kw_only=True, tag_field="status", tag="directory"):
    agents: list[NamedAgent]


SEND: Operation[SendMessage, MessageReceipt] = Operation(
    name="messages.send",
    about="Put one message into a conversation and return its receipt.",
    request=SendMessage,
    answers=(MessageReceipt,),
    scope=Scope.RUN,
    offered_to=frozenset({CallerKind.CONNECTION}),
    refuses=(
        RefusalCode.NOT_FOUND,
        RefusalCode.EXPIRED,
        RefusalCode.RATE_LIMITED,
        RefusalCode.INBOX_FULL,
    ),
    http="POST /api/messages",
    cli="messages send",
    tools=("send_message", "messages:send"),
)

SEND_BATCH: Operation[SendBatch, BatchReceipts] = Operation(
    name="messages.send_batch",
    about="Put up to 50 messages into conversations, each judged alone, in order.",
    request=SendBatch,
    answers=(BatchReceipts,),
    scope=Scope.RUN,
    offered_to=frozenset({CallerKind.CONNECTION}),
    http="POST /api/messages/batch",
)

READ: Operation[ReadMessages, MessagePage] = Operation(
    name="messages.read",
    about="Read a page of an inbox or a mailbox, without removing anything.",
    request=ReadMessages,
    answers=(MessagePage,),
    scope=Scope.READ,
    offered_to=frozenset({CallerKind.CONNECTION}),
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.EXPIRED),
    reads=True,
    http="GET /api/messages",
    cli="messages read",
    tools=("read_agent_messages", "messages:read"),
)

REGISTER: Operation[RegisterAgent, Registration] = Operation(
    name="messages.register",
    about="Register an account-owned address, agent:<name>, or change who may use it.",
    request=RegisterAgent,
    answers=(Registration,),
    scope=Scope.RUN,
    offered_to=OUTSIDE,
    refuses=(RefusalCode.NOT_FOUND,),
    http="POST /api/messages/agents",
    cli="messages register",
    tools=("messages:register",),
)

UNREGISTER: Operation[UnregisterAgent, Unregistered] = Operation(
    name="messages.unregister",
    about="Remove a registered name. Its conversations stay; a later namesake is someone else.",
    request=UnregisterAgent,
    answers=(Unregistered,),
    scope=Scope.RUN,
    offered_to=OUTSIDE,
    refuses=(RefusalCode.NOT_FOUND,),
    http="DELETE /api/messages/agents/{agent_name}",
    cli="messages unregister",
    tools=("messages:unregister",),
)

LIST_AGENTS: Operation[ListNamedAgents, Directory] = Operation(
    name="messages.list_agents",
    about="List this account's named agents and who may use each name.",
    request=ListNamedAgents,
    answers=(Directory,),
    scope=Scope.READ,
    offered_to=OUTSIDE,
    reads=True,
    http="GET /api/messages/agents",
    cli="messages list",
    tools=("list_message_agents", "messages:list_agents"),
)
