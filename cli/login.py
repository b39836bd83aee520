"""Signing in and out: the device flow (RFC 8628) and revocation (RFC 7009)."""

from __future__ import annotations

import os
import re
import time
from typing import Any

import click
import msgspec

from agentworks.contracts.operation import Scope
from cli.config import (
    Given,
    PendingLogin,
    Reach,
    locked,
    now,
    parts_of,
    reach_from,
    read,
    save,
)
from cli.local import NAMES, json_option, scope_option
from cli.remote import Unreachable
from cli.render import Exit, Stop, answer_text, exit_code, one_line, say, show
from cli.tokens import CLIENT_ID, OVERLOADED, kept_from, post, refused_by, understood

DEVICE_CODE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
INTERVAL_SECONDS = 5  # between two questions, unless the server names another (RFC 8628 §3.2)
INTERVAL_SECONDS_MAX = 60
SLOW_DOWN_SECONDS = 5  # added each time the server asks for it (RFC 8628 §3.5)
LABEL_CHARACTERS_MAX = 100
LOOPBACK = re.compile(r"localhost|::1|127(\.[0-9]+){3}")


@click.command(context_settings=NAMES)
@click.option("--label", metavar="NAME", help="What the Connect page calls this program.")
@scope_option
@click.option("--no-wait", is_flag=True, help="Show the link and end; run again to finish.")
@json_option
def login(label: str | None, scopes: list[Scope], no_wait: bool, as_json: bool) -> int:
    """Sign in: a person approves this program in a browser."""
    reach = reach_from(click.get_current_context().obj)
    warn(reach)
    label = label or default_label(reach)
    with locked(reach.path):  # find out now whether the file can be written
        pending = earlier(reach, label, scopes)
    tokens = None
    if pending is None:
        pending = ask(reach, label, scopes)
        show_link(pending)
        tokens = None if no_wait else decided(reach, pending, once=False)
    else:
        show_link(pending)
        tokens = decided(reach, pending, once=no_wait)
    with locked(reach.path):
        if tokens is None:
            save(reach.path, pending_login=pending)
            answer = waiting(pending)
        else:
            kept = save(reach.path, server=reach.server, pending_login=None, **tokens)
            answer = {"status": "signed_in", "server": kept.server, "config": reach.path}
            answer |= {"connection_id": kept.connection_id} if kept.connection_id else {}
    show(msgspec.json.encode(answer) + b"\n" if as_json else answer_text(answer).encode() + b"\n")
    return exit_code(answer)


def warn(reach: Reach) -> None:
    """Say what a person should know before they sign in here."""
    if reach.token:
        say("agentworks: AGENTWORKS_TOKEN is set and will be used instead of this sign-in")
    parts = parts_of(reach.server)
    host = parts.hostname or ""
    if parts.scheme == "http" and not LOOPBACK.fullmatch(host):
        say(f"agentworks: {reach.server} is not encrypted: others on the way can read the token")


def default_label(reach: Reach) -> str:
    """The machine's name, and the config file's unless it is the usual one."""
    name = os.path.splitext(os.path.basename(reach.path))[0]
    host = os.uname().nodename
    label = host if name == "config" else f"{host} {name}"
    return label.encode("utf-8", "replace").decode()[:LABEL_CHARACTERS_MAX]


def earlier(reach: Reach, label: str, scopes: list[Scope]) -> PendingLogin | None:
    """The device code of an earlier `login --no-wait` that asked for the same and still lives."""
    found = read(reach.path).pending_login
    if found is None or found.expires_at <= now():
        return None
    same = (found.server, found.label, found.scope) == (reach.server, label, " ".join(scopes))
    return found if same else None


def decided(reach: Reach, pending: PendingLogin, *, once: bool) -> dict[str, Any] | None:
    """As `poll`; a code that will never be good is forgotten, so that the next login asks anew."""
    try:
        return poll(reach, pending, once=once)
    except Unreachable:
        raise
    except Stop:
        with locked(reach.path):
            if read(reach.path).pending_login is not None:
                save(reach.path, pending_login=None)
        raise


def ask(reach: Reach, label: str, scopes: list[Scope]) -> PendingLogin:
    """Ask the server for a code that a person can approve (RFC 8628 §3.1)."""
    fields = {"client_id": CLIENT_ID, "scope": " ".join(scopes), "label": label}
    response = post(reach, "/oauth/device_authorization", fields)
    answer = understood(reach, response)
    try:
        link = answer.get("verification_uri_complete") or answer["verification_uri"]
        return PendingLogin(
            server=reach.server,
            label=label,
            scope=fields["scope"],
            device_code=str(answer["device_code"]),
            user_code=str(answer["user_code"]),
            verification_uri=str(link),
            interval=int(answer.get("interval", INTERVAL_SECONDS)),
            expires_at=now() + int(answer["expires_in"]),
        )
    except (KeyError, TypeError, ValueError):
        raise refused_by(reach, response.status, answer) from None


def show_link(pending: PendingLogin) -> None:
    """Tell the person where to approve. On stderr: stdout belongs to the answer."""
    say("To sign in, open this page:")
    say(f"  {one_line(pending.verification_uri)}")
    say(f"and check that it shows the code {one_line(pending.user_code)}")


def waiting(pending: PendingLogin) -> dict[str, Any]:
    """The answer of a login that nobody has approved yet."""
    return {
        "status": "working",
        "user_code": pending.user_code,
        "verification_uri_complete": pending.verification_uri,
        "expires_in": max(0, pending.expires_at - now()),
        "next": "approve it on that page, then run the same command again",
    }


def poll(reach: Reach, pending: PendingLogin, *, once: bool) -> dict[str, Any] | None:
    """Ask until the person has decided; None when `once` and they have not.

    Comes back with the values to keep. A server that is away for a while is asked again.
    """
    fields = {
        "grant_type": DEVICE_CODE_GRANT,
        "device_code": pending.device_code,
        "client_id": CLIENT_ID,
    }
    interval = pending.interval
    while now() < pending.expires_at:
        if not once:
            time.sleep(min(max(1, interval), INTERVAL_SECONDS_MAX))
        try:
            response = post(reach, "/oauth/token", fields)
            answer = understood(reach, response)
        except Unreachable as away:
            if once or not away.worth_repeating:
                raise
            continue
        if response.status == 200 and "access_token" in answer:
            return kept_from(reach, answer)
        interval += patience_asked(reach, response.status, answer)
        if once:
            return None
    raise Stop("nobody approved in time; run login again", Exit.FAILED)


def patience_asked(reach: Reach, status: int, answer: dict[str, Any]) -> int:
    """How many seconds longer to wait between questions. Raises when the answer is final."""
    asked = answer.get("error")
    if asked == "authorization_pending":
        return 0
    if asked == "slow_down" or status in OVERLOADED:
        return SLOW_DOWN_SECONDS
    if asked == "expired_token":
        raise Stop("nobody approved in time; run login again", Exit.FAILED)
    if asked == "access_denied":
        raise Stop("the person turned this program away", Exit.REFUSED)
    raise refused_by(reach, status, answer)


@click.command(context_settings=NAMES)
@json_option
def logout(as_json: bool) -> int:
    """End the sign-in on the server and forget it here."""
    given: Given = click.get_current_context().obj
    reach = reach_from(given)
    with locked(reach.path):
        kept = read(reach.path)
        token = kept.refresh_token or kept.access_token
        if token:
            at = Reach(
                server=kept.server or reach.server,
                path=reach.path,
                kept=kept,
                timeout=reach.timeout,
            )
            response = post(at, "/oauth/revoke", {"token": token, "client_id": CLIENT_ID})
            if response.status != 200:
                raise refused_by(at, response.status, understood(at, response))
        if token or kept.pending_login:
            gone = ("connection_id", "access_token", "refresh_token", "expires_at", "pending_login")
            save(reach.path, **dict.fromkeys(gone))
    answer = {"status": "signed_out" if token else "not_signed_in", "config": reach.path}
    show(msgspec.json.encode(answer) + b"\n" if as_json else answer_text(answer).encode() + b"\n")
    return Exit.ANSWERED
