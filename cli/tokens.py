"""Tokens over the wire: forms, renewal (RFC 6749 §6), and what an OAuth answer means."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec

from cli.config import Reach, SignIn, locked, now, read, save, sendable
from cli.remote import PASSING, Response, Unreachable, Wire, tried
from cli.render import Exit, Stop, one_line

CLIENT_ID = "agentworks-cli"
ACCESS_SECONDS = 3600  # how long an access token lives (contract §2), unless the answer says so
TOKEN_NAMES = ("access_token", "refresh_token", "connection_id")
OVERLOADED = (429, *PASSING)


def renewed(reach: Reach) -> SignIn | None:
    """A sign-in with a living access token, or None when the person must sign in again.

    Only one program renews at a time. Whoever waited for the lock finds the new token in the
    file: a refresh token is good for one use (contract §2).
    """
    with locked(reach.path):
        kept = read(reach.path)
        theirs = Reach(server=reach.server, path=reach.path, kept=kept, timeout=reach.timeout)
        if not theirs.own:
            return None
        if kept.access_token != reach.kept.access_token and not kept.about_to_end:
            return kept
        if not kept.refresh_token:
            return None
        fields = {
            "grant_type": "refresh_token",
            "refresh_token": kept.refresh_token,
            "client_id": CLIENT_ID,
        }
        response = post(reach, "/oauth/token", fields)
        answer = understood(reach, response)
        if response.status == 200 and "access_token" in answer:
            return save(reach.path, **kept_from(reach, answer))
        if response.status in OVERLOADED:
            raise Unreachable(f"{reach.server} cannot renew the sign-in now; try again soon")
        return None


def kept_from(reach: Reach, answer: dict[str, Any]) -> dict[str, Any]:
    """The values of a token answer that the file keeps (RFC 6749 §5.1)."""
    kept = {name: str(answer[name]) for name in TOKEN_NAMES if answer.get(name)}
    if not all(map(sendable, kept.values())):
        raise Unreachable(f"{reach.server} gave a token that no header can hold")
    lifetime = answer.get("expires_in")
    seconds = lifetime if isinstance(lifetime, int) else ACCESS_SECONDS
    return {**kept, "expires_at": now() + seconds}


def post(reach: Reach, path: str, fields: dict[str, str]) -> Response:
    """Send a form. Repeating one is safe: a spent refresh token finds its successor for 60 s."""
    wire = Wire("POST", path, urlencode(fields).encode(), form=True)
    return tried(reach.server, wire, "", True, reach.timeout)


def understood(reach: Reach, response: Response) -> dict[str, Any]:
    """The JSON object of an OAuth answer; an empty one where a proxy answered for the server."""
    try:
        answer = msgspec.json.decode(response.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        answer = None
    if isinstance(answer, dict):
        return answer
    if response.status in OVERLOADED:
        return {}
    raise Unreachable(
        f"{reach.server} answered HTTP {response.status}, but not as an AgentWorks server",
        worth_repeating=False,
    )


def refused_by(reach: Reach, status: int, answer: dict[str, Any]) -> Stop:
    """A server's final no, in its own words."""
    if status in PASSING:
        return Unreachable(f"{reach.server} is not ready (HTTP {status}); try again soon")
    words = [answer.get("error_description") or answer.get("error"), *answer.get("problems", [])]
    reason = "; ".join(one_line(word) for word in words if word)
    code = Exit.BUSY if status == 429 else Exit.REFUSED
    return Stop(f"{reach.server} refused: {reason or f'HTTP {status}'}", code)
