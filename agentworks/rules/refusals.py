"""Every way this server says no: the words, and the call to make instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentworks import clock
from agentworks.contracts.operation import Caller, Scope
from agentworks.contracts.refusal import RefusalCode, Refuse, Refused
from agentworks.rules.wording import shown


def refuse(
    code: RefusalCode,
    *problems: str,
    try_: dict[str, Any] | None = None,
    placeholders: list[str] | None = None,
    retry_at: int | None = None,
) -> Refuse:
    """`retry_at` is in milliseconds; the other fields are those of `Refused`."""
    return Refuse(
        Refused(
            code=code,
            problems=list(problems),
            try_=try_,
            placeholders=placeholders or [],
            retry_at=None if retry_at is None else clock.rfc3339(retry_at),
        )
    )


# ── what dispatch decides for every operation ────────────────────────────────────────────────


def invalid_input(
    problems: list[str],
    try_: dict[str, Any] | None = None,
    placeholders: list[str] | None = None,
) -> Refuse:
    return refuse(RefusalCode.INVALID_INPUT, *problems, try_=try_, placeholders=placeholders)


def not_signed_in() -> Refuse:
    return refuse(
        RefusalCode.NOT_SIGNED_IN,
        "no live connection or session; run `agentworks login`, or pass a connection's token as "
        "`Authorization: Bearer …`",
    )


def not_offered(caller: Caller) -> Refuse:
    return refuse(RefusalCode.NOT_PERMITTED, f"this is not offered to a {caller.kind.value}")


def scope_missing(scope: Scope) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        f"this connection lacks the scope {scope.value}; a person can grant it on the Connect page",
    )


def submission_conflict(submission_id: str) -> Refuse:
    return refuse(
        RefusalCode.SUBMISSION_CONFLICT,
        f"submission_id {submission_id!r} was already used for a different request; "
        "use a new one for new work",
    )


def storage_full() -> Refuse:
    return refuse(RefusalCode.STORAGE_FULL, "the server's disk is full; nothing was stored")


def unavailable() -> Refuse:
    return refuse(
        RefusalCode.UNAVAILABLE, "the server is too busy to take this now; nothing was stored"
    )


def too_large(what: str, most: int) -> Refuse:
    return refuse(RefusalCode.TOO_LARGE, f"{what} is larger than {most:,} bytes")


def unknown_address(path: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND, f"no operation at {shown(path)}; see /api/openapi.json for all"
    )


def seconds_until(moment: str) -> int:
    """Whole seconds from now to an RFC 3339 time, at least 1: for a Retry-After header."""
    return max(1, -(-(clock.milliseconds(moment) - clock.now()) // 1000))


# ── messages ─────────────────────────────────────────────────────────────────────────────────


def no_destination(try_: dict[str, Any] | None) -> Refuse:
    return refuse(
        RefusalCode.INVALID_INPUT,
        "pass target to open a conversation, or inbox_id to continue one",
        try_=try_,
        placeholders=["target"] if try_ else None,
    )


def two_destinations(try_: dict[str, Any]) -> Refuse:
    return refuse(
        RefusalCode.INVALID_INPUT,
        "pass target to open a conversation or inbox_id to continue one, not both",
        try_=try_,
    )


def unknown_target(target: str, known: list[str], try_: dict[str, Any] | None = None) -> Refuse:
    hint = f"; named agents here: {', '.join(known)}" if known else ""
    return refuse(RefusalCode.NOT_FOUND, f"no agent {shown(target)}{hint}", try_=try_)


def unknown_inbox(inbox_id: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND,
        f"no inbox {inbox_id!r}; open a conversation with target to get one",
    )


def expired_inbox(inbox_id: str) -> Refuse:
    return refuse(
        RefusalCode.EXPIRED,
        f"inbox {inbox_id!r} was idle and has been removed; start a new conversation with target",
    )


def peer_gone(name: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND,
        f"{name} was unregistered; a later agent of that name is someone else: open a new "
        "conversation with target",
    )


def not_your_name(agent_name: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        f"this connection may not use the name {agent_name!r}; a connection that may can allow it "
        "with messages.register, or a person on the Connect page",
    )


def unknown_name(agent_name: str, known: list[str]) -> Refuse:
    hint = f"; registered: {', '.join(known)}" if known else "; none is registered"
    return refuse(RefusalCode.NOT_FOUND, f"no named agent {agent_name!r}{hint}")


def which_end(names: list[str], try_: dict[str, Any]) -> Refuse:
    return refuse(
        RefusalCode.INVALID_INPUT,
        f"this connection may speak for both ends ({', '.join(names)}); say which with agent_name",
        try_=try_,
    )


def not_an_end(agent_name: str, try_: dict[str, Any] | None) -> Refuse:
    return refuse(
        RefusalCode.INVALID_INPUT,
        f"{agent_name!r} is not an end of this conversation",
        try_=try_,
    )


def to_itself(name: str) -> Refuse:
    return refuse(RefusalCode.INVALID_INPUT, f"{name} cannot write to itself")


def too_many_messages(limit: int, retry_at: int) -> Refuse:
    return refuse(
        RefusalCode.RATE_LIMITED,
        f"{limit} messages were accepted in this conversation within the last hour",
        retry_at=retry_at,
    )


def inbox_full(limit: int) -> Refuse:
    return refuse(
        RefusalCode.INBOX_FULL,
        f"the inbox holds {limit:,} messages and its oldest is still being delivered",
    )


def every_inbox_busy() -> Refuse:
    return refuse(
        RefusalCode.INBOX_FULL,
        "no inbox can be removed to make room: all hold messages that are being delivered",
    )


def what_to_read(try_: dict[str, Any] | None) -> Refuse:
    return refuse(
        RefusalCode.INVALID_INPUT,
        "pass inbox_id to read one conversation, or agent_name to read a named agent's mailbox",
        try_=try_,
    )


def too_many_names(whose: str, limit: int) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        f"{whose} already holds {limit:,} named agents; unregister one first",
    )


def unknown_connections(connection_ids: list[str]) -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND,
        *(f"no live connection {each!r} in this account" for each in connection_ids),
    )


# ── accounts ─────────────────────────────────────────────────────────────────────────────────


def unknown_connection(connection_id: str) -> Refuse:
    return refuse(RefusalCode.NOT_FOUND, f"no connection {connection_id!r}")


def connection_ended(connection_id: str) -> Refuse:
    return refuse(
        RefusalCode.NOT_PENDING,
        f"connection {connection_id!r} was revoked or has run out; make a new one",
    )


def too_many_connections(limit: int) -> Refuse:
    return refuse(
        RefusalCode.NOT_PERMITTED,
        f"this account already holds {limit:,} live connections; revoke one first",
    )


def unknown_code() -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND, "no program waits behind this code; it may have run out, ask anew"
    )


def code_answered(state: str) -> Refuse:
    return refuse(RefusalCode.NOT_PENDING, f"this code was already {state}")


def too_many_attempts(retry_at: int) -> Refuse:
    return refuse(
        RefusalCode.RATE_LIMITED, "too many wrong attempts; wait before the next", retry_at=retry_at
    )


def too_many_waiting(limit: int, retry_at: int) -> Refuse:
    return refuse(
        RefusalCode.RATE_LIMITED,
        f"{limit} programs already wait to be let in; wait for some to end",
        retry_at=retry_at,
    )


def wrong_password() -> Refuse:
    """Says nothing about which of the two was wrong, or whether the account exists."""
    return refuse(RefusalCode.NOT_SIGNED_IN, "the name or the password is wrong")


def link_over() -> Refuse:
    return refuse(
        RefusalCode.NOT_FOUND,
        "this link was used, replaced or has run out; ask for a new one (the owner gets one each "
        "time the server starts, until a password is chosen)",
    )


def no_store() -> Refuse:
    return refuse(RefusalCode.NOT_FOUND, "there is no agentworks store in this folder")


def owner_only() -> Refuse:
    return refuse(RefusalCode.NOT_PERMITTED, "only the server's owner may do this")


def name_taken(name: str) -> Refuse:
    return refuse(RefusalCode.NOT_PENDING, f"the name {name!r} already belongs to an account")


def unknown_account(account: str, known: Sequence[str] = ()) -> Refuse:
    hint = f"; there is {', '.join(known)}" if known else ""
    return refuse(RefusalCode.NOT_FOUND, f"no account {shown(account)}{hint}")


def owner_stays() -> Refuse:
    return refuse(RefusalCode.NOT_PERMITTED, "the owner's account cannot be disabled")
