"""Accounts and connections: who may act, for whom, how far and for how long."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from agentworks.contracts.operation import OUTSIDE, PERSON_ONLY, Operation, Scope
from agentworks.contracts.refusal import RefusalCode

ACCOUNT_NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$(?!\n)"

Id = Annotated[str, Meta(min_length=1, max_length=128)]
ConnectionId = Annotated[Id, Meta(description="The connection's public id.")]
Label = Annotated[
    Annotated[str, Meta(min_length=1, max_length=100)],
    Meta(description="What a person recognises it by."),
]
Scopes = Annotated[
    Annotated[list[Scope], Meta(min_length=1, max_length=3)],
    Meta(description="read (list, read, status), run (send, ask, call), author (define)."),
]
Targets = Annotated[
    Annotated[list[Id], Meta(max_length=1000)],
    Meta(description="Ids of the agents it may reach; an empty list is all of them."),
]
Days = Annotated[
    Annotated[int, Meta(ge=0, le=3650)],
    Meta(description="Ends after this many days; 0 is never."),
]
UserCode = Annotated[
    Annotated[str, Meta(min_length=8, max_length=16)],
    Meta(description="The code the waiting program shows, such as WDJB-MJHT."),
]
AccountName = Annotated[
    Annotated[str, Meta(pattern=ACCOUNT_NAME_PATTERN)],
    Meta(description="The name a person signs in with."),
]


class GetContext(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    pass


class ConnectionView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A revocable grant by which a client acts for an account. The id is not a secret."""

    connection_id: str
    label: str
    scopes: list[Scope]
    created_at: str
    targets: list[str] = field(default_factory=list)  # empty: every target
    last_used_at: str | None = None
    expires_at: str | None = None
    revoked_at: str | None = None


class Context(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="context"
):
    """Who you are to this server, and what this connection may do."""

    server_version: str
    account_id: str
    account_name: str
    kind: str
    next: str
    connection: ConnectionView | None = None
    agents: list[str] = field(default_factory=list)


class ListConnections(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    pass


class Connections(Struct, frozen=True, kw_only=True, tag_field="status", tag="connections"):
    connections: list[ConnectionView]


class ChangeConnection(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    connection_id: ConnectionId
    label: Label | UnsetType = UNSET
    scopes: Scopes | UnsetType = UNSET
    targets: Targets | UnsetType = UNSET
    expires_days: Days | UnsetType = UNSET


class ConnectionChanged(Struct, frozen=True, kw_only=True, tag_field="status", tag="changed"):
    connection: ConnectionView


class RevokeConnection(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    connection_id: ConnectionId


class ConnectionRevoked(Struct, frozen=True, kw_only=True, tag_field="status", tag="revoked"):
    connection_id: str


class FindDevice(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    user_code: UserCode


class DeviceRequest(Struct, frozen=True, kw_only=True, tag_field="status", tag="pending"):
    """A program that waits to be let in (RFC 8628), as the approving person sees it."""

    user_code: str
    label: str
    scopes: list[Scope]
    asked_at: str
    expires_at: str


class ApproveDevice(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    user_code: UserCode
    label: Label
    scopes: Scopes
    targets: Targets = []
    expires_days: Days = 0


class DeviceApproved(Struct, frozen=True, kw_only=True, tag_field="status", tag="approved"):
    connection_id: str
    label: str


class DenyDevice(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    user_code: UserCode


class DeviceDenied(Struct, frozen=True, kw_only=True, tag_field="status", tag="denied"):
    label: str


class Invite(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    account_name: AccountName


class Invited(Struct, frozen=True, kw_only=True, tag_field="status", tag="invited"):
    """`token` is shown once; its link lets one person choose a password."""

    account_name: str
    token: str
    expires_at: str


class ListAccounts(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    pass


class AccountView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    account_id: str
    account_name: str
    owner: bool
    created_at: str
    disabled_at: str | None = None


class Accounts(Struct, frozen=True, kw_only=True, tag_field="status", tag="accounts"):
    accounts: list[AccountView]


class DisableAccount(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    account_id: Annotated[Id, Meta(description="The account's id.")]


class AccountDisabled(Struct, frozen=True, kw_only=True, tag_field="status", tag="disabled"):
    account_id: str


CONTEXT: Operation[GetContext, Context] = Operation(
    name="accounts.context",
    about="Say who you are to this server and what this connection may do.",
    request=GetContext,
    answers=(Context,),
    scope=None,
    offered_to=OUTSIDE,
    reads=True,
    http="GET /api/context",
    cli="guidance context",
    tools=("help:context",),
)

CONNECTIONS: Operation[ListConnections, Connections] = Operation(
    name="accounts.connections",
    about="List this account's connections, newest first.",
    request=ListConnections,
    answers=(Connections,),
    scope=None,
    offered_to=PERSON_ONLY,
    reads=True,
)

CHANGE_CONNECTION: Operation[ChangeConnection, ConnectionChanged] = Operation(
    name="accounts.change_connection",
    about="Rename, widen, narrow or date a connection.",
    request=ChangeConnection,
    answers=(ConnectionChanged,),
    scope=None,
    offered_to=PERSON_ONLY,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.NOT_PENDING),
)

REVOKE_CONNECTION: Operation[RevokeConnection, ConnectionRevoked] = Operation(
    name="accounts.revoke_connection",
    about="End a connection at once; its tokens stop working.",
    request=RevokeConnection,
    answers=(ConnectionRevoked,),
    scope=None,
    offered_to=PERSON_ONLY,
    refuses=(RefusalCode.NOT_FOUND,),
)

FIND_DEVICE: Operation[FindDevice, DeviceRequest] = Operation(
    name="accounts.find_device",
    about="Look up the program that waits behind a code.",
    request=FindDevice,
    answers=(DeviceRequest,),
    scope=None,
    offered_to=PERSON_ONLY,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.RATE_LIMITED),
)

APPROVE_DEVICE: Operation[ApproveDevice, DeviceApproved] = Operation(
    name="accounts.approve_device",
    about="Let a waiting program in, with these scopes and bounds.",
    request=ApproveDevice,
    answers=(DeviceApproved,),
    scope=None,
    offered_to=PERSON_ONLY,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.NOT_PENDING, RefusalCode.RATE_LIMITED),
)

DENY_DEVICE: Operation[DenyDevice, DeviceDenied] = Operation(
    name="accounts.deny_device",
    about="Turn a waiting program away.",
    request=DenyDevice,
    answers=(DeviceDenied,),
    scope=None,
    offered_to=PERSON_ONLY,
    refuses=(RefusalCode.NOT_FOUND, RefusalCode.NOT_PENDING, RefusalCode.RATE_LIMITED),
)

INVITE: Operation[Invite, Invited] = Operation(
    name="accounts.invite",
    about="Make a one-time link with which one more person joins this server.",
    request=Invite,
    answers=(Invited,),
    scope=None,
    offered_to=PERSON_ONLY,
    refuses=(RefusalCode.NOT_PENDING,),
)

ACCOUNTS: Operation[ListAccounts, Accounts] = Operation(
    name="accounts.list",
    about="List the accounts of this server.",
    request=ListAccounts,
    answers=(Accounts,),
    scope=None,
    offered_to=PERSON_ONLY,
    reads=True,
)

DISABLE: Operation[DisableAccount, AccountDisabled] = Operation(
    name="accounts.disable",
    about="Shut an account out at once: its sessions and connections stop working.",
    request=DisableAccount,
    answers=(AccountDisabled,),
    scope=None,
    offered_to=PERSON_ONLY,
    refuses=(RefusalCode.NOT_FOUND,),
)
