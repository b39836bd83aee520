"""The command line's only way to a server: one request, its retries, and the answer."""

from __future__ import annotations

import http.client
import os
import time
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec

from agentworks import __version__
from agentworks.contracts.operation import Operation
from cli.config import DEFAULT_SERVER, Reach, parts_of
from cli.render import Exit, Stop, say

ANSWER_BYTES_MAX = 64 * 1024 * 1024
PAUSES_SECONDS = (0.25, 1.0)  # before the second and the third try
RETRY_AFTER_SECONDS_MAX = 5.0
WAIT_SECONDS_MAX = 25  # the server waits no longer, whatever was asked ([S0] limits)
PASSING = (502, 503, 504)  # a proxy without its server, or a server that asks for a moment


class Reply(NamedTuple):
    """What came back: the HTTP status, the body as sent, and the body read."""

    status: int
    body: bytes
    answer: dict[str, Any]


class Wire(NamedTuple):
    """A request as it goes over the wire."""

    method: str
    path: str
    body: bytes | None = None
    form: bool = False


class Response(NamedTuple):
    """A response as it came over the wire."""

    status: int
    body: bytes
    retry_after: str


class Unreachable(Stop):
    """No server answered, or what answered was not one of ours."""

    def __init__(self, message: str, *, worth_repeating: bool = True) -> None:
        super().__init__(message, Exit.UNREACHABLE)
        self.worth_repeating = worth_repeating


def call(reach: Reach, operation: Operation[Any, Any], args: dict[str, Any]) -> Reply:
    """Perform an operation; `args` are its inputs. Retries what may be repeated: reads, and what
    the server recognises by its `submission_id` (contract §4). Raises Unreachable."""
    if operation.submits and "submission_id" not in args:
        args["submission_id"] = "sub_" + os.urandom(16).hex()
    again = operation.reads or operation.submits
    wire = wire_for(operation, args)
    patience = reach.timeout + max(0, min(int(args.get("wait_seconds", 0)), WAIT_SECONDS_MAX))
    try:
        return _signed_in(reach, wire, again, patience)
    except Stop as end:
        if operation.submits and end.code in (Exit.UNREACHABLE, Exit.FAULT):
            say("agentworks: it may have been accepted or not; repeat it safely with")
            say(f"  --submission-id {args['submission_id']}")
        raise


def wire_for(operation: Operation[Any, Any], args: dict[str, Any]) -> Wire:
    """The HTTP request an operation declares: path, then query or JSON body."""
    assert operation.http is not None
    method, path = operation.http.split()
    rest = dict(args)
    for name in [name for name in args if f"{{{name}}}" in path]:
        value = str(rest.pop(name))
        if value in ("", ".", "..") or "/" in value:
            raise Stop(f"{name} cannot be {value!r}", Exit.USAGE)
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    if method in ("GET", "DELETE"):
        query = urlencode({name: _in_query(value) for name, value in rest.items()}, doseq=True)
        return Wire(method, f"{path}?{query}" if query else path)
    return Wire(method, path, msgspec.json.encode(rest))


def _in_query(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return bytes(value) if isinstance(value, msgspec.Raw) else value


def _signed_in(reach: Reach, wire: Wire, again: bool, patience: float) -> Reply:
    """Send with a live token: renewed when it is about to end, or when the server says it ended."""
    if not reach.token and reach.own and reach.kept.about_to_end:
        _renew(reach)
    token = reach.token or (reach.kept.access_token if reach.own else "")
    raw = tried(reach.server, wire, token, again, patience)
    if raw.status == 401 and token and not reach.token and _renew(reach):
        raw = tried(reach.server, wire, reach.kept.access_token, again, patience)
    return _understood(reach.server, raw)


def _renew(reach: Reach) -> bool:
    from cli.tokens import renewed  # late: most calls need no new token

    fresh = renewed(reach)
    if fresh is None:
        return False
    reach.kept = fresh
    return True


def tried(server: str, wire: Wire, token: str, again: bool, patience: float) -> Response:
    for pause in PAUSES_SECONDS if again else ():
        try:
            raw = exchange(server, wire, token, patience)
            if raw.status not in PASSING:
                return raw
            asked = float(raw.retry_after) if raw.retry_after.isdecimal() else 0.0
            pause = max(pause, min(asked, RETRY_AFTER_SECONDS_MAX))
        except Unreachable as fault:
            if not fault.worth_repeating:
                raise
        time.sleep(pause * (0.5 + os.urandom(1)[0] / 255))  # apart from others who failed with us
    return exchange(server, wire, token, patience)


def _understood(server: str, raw: Response) -> Reply:
    """Read an answer of this protocol; anything else came from somebody else."""
    try:
        answer = msgspec.json.decode(raw.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        answer = None
    if isinstance(answer, dict) and isinstance(answer.get("status"), str):
        return Reply(raw.status, raw.body, answer)
    if raw.status == 500:
        raise Stop(f"{server} failed (HTTP 500) and gave no reason", Exit.FAULT)
    raise Unreachable(
        f"{server} answered HTTP {raw.status}, but not as an AgentWorks server",
        worth_repeating=False,
    )


def exchange(server: str, wire: Wire, token: str, patience: float) -> Response:
    """One HTTP exchange. Redirects are not followed: a token goes only where it belongs."""
    connection, prefix = _connection(server, patience)
    kind = "application/x-www-form-urlencoded" if wire.form else "application/json"
    headers = {"Accept": "application/json", "User-Agent": f"agentworks/{__version__}"}
    if wire.body is not None:
        headers["Content-Type"] = kind
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        return _exchanged(connection, wire._replace(path=prefix + wire.path), headers)
    except (OSError, http.client.HTTPException) as fault:
        raise _unreachable(server, fault) from None
    except UnicodeError:
        raise Stop(f"{server!r} names no possible host", Exit.USAGE) from None
    finally:
        connection.close()


def _connection(server: str, patience: float) -> tuple[http.client.HTTPConnection, str]:
    parts = parts_of(server)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=patience), parts.path.rstrip("/")


def _exchanged(
    connection: http.client.HTTPConnection, wire: Wire, headers: dict[str, str]
) -> Response:
    try:
        connection.request(wire.method, wire.path, body=wire.body, headers=headers)
    except (BrokenPipeError, ConnectionResetError):
        if connection.sock is None:
            raise
        # It stopped listening, perhaps because it has already refused: read what it said.
    response = connection.getresponse()
    body = response.read(ANSWER_BYTES_MAX)
    if response.length or (not response.isclosed() and response.read(1)):
        raise http.client.IncompleteRead(body, response.length)
    return Response(response.status, body, response.headers.get("Retry-After", ""))


def _unreachable(server: str, fault: Exception) -> Unreachable:
    untrusted = type(fault).__name__ == "SSLCertVerificationError"
    if isinstance(fault, TimeoutError):
        reason = "no answer in time"
    else:
        reason = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
    hint = ""
    if server == DEFAULT_SERVER and isinstance(fault, ConnectionRefusedError):
        hint = "; start one with: agentworks serve --data DIR, or name yours with --server"
    return Unreachable(f"cannot reach {server}: {reason}{hint}", worth_repeating=not untrusted)
