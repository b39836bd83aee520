"""Reach the protocol over HTTP: each operation at the address its declaration names.

It is a plain ASGI function mounted in Litestar (facts/stack §3: a third of the cost of its typed
routes). Everything said on this surface is JSON, refusals of the HTTP layer included.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from litestar import asgi
from litestar.enums import ScopeType
from litestar.handlers import ASGIRouteHandler
from litestar.types import HTTPScope, Receive, Scope, Send
from msgspec import Struct

from agentworks import clock
from agentworks.contracts import PROTOCOL
from agentworks.contracts.calls import Working
from agentworks.contracts.functions import Busy
from agentworks.contracts.refusal import Fault, RefusalCode, Refuse, Refused
from agentworks.dispatch import Dispatch
from agentworks.identity import callers
from agentworks.rules import limits, refusals, strict_json
from agentworks.rules.wording import shown
from agentworks.surfaces.places import Place, Places

log = logging.getLogger("agentworks.http")

STATUS: dict[RefusalCode, HTTPStatus] = {
    RefusalCode.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    RefusalCode.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    RefusalCode.NOT_SIGNED_IN: HTTPStatus.UNAUTHORIZED,
    RefusalCode.NOT_PERMITTED: HTTPStatus.FORBIDDEN,
    RefusalCode.INVALID_INPUT: HTTPStatus.BAD_REQUEST,
    RefusalCode.SUBMISSION_CONFLICT: HTTPStatus.CONFLICT,
    RefusalCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    RefusalCode.AMBIGUOUS_TARGET: HTTPStatus.CONFLICT,
    RefusalCode.UNKNOWN_FUNCTION: HTTPStatus.NOT_FOUND,
    RefusalCode.EXPIRED: HTTPStatus.GONE,
    RefusalCode.DISABLED: HTTPStatus.GONE,
    RefusalCode.NOT_PENDING: HTTPStatus.CONFLICT,
    RefusalCode.MESSAGING_OFF: HTTPStatus.CONFLICT,
    RefusalCode.LOOP_REFUSED: HTTPStatus.CONFLICT,
    RefusalCode.NO_RUNTIME: HTTPStatus.CONFLICT,
    RefusalCode.TEST_MODE: HTTPStatus.CONFLICT,
    RefusalCode.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    RefusalCode.INBOX_FULL: HTTPStatus.CONFLICT,
    RefusalCode.BUSY: HTTPStatus.TOO_MANY_REQUESTS,
    RefusalCode.STORAGE_FULL: HTTPStatus.INSUFFICIENT_STORAGE,
}
_PARSE_ASIDE_BYTES = 256 * 1024  # larger bodies are parsed off the event loop, and not for all
_encode = msgspec.json.Encoder().encode
_RETRY_SOON = 1  # seconds, for `unavailable`
_PROBLEMS_MAX = 20  # problems told about one query

Headers = list[tuple[bytes, bytes]]
Admit = Callable[[], None]

#: Said to nobody: the connection is closed.
HUNG_UP = refusals.invalid_input(["the caller hung up"]).refused


def routes(dispatch: Dispatch, headers: Headers) -> list[ASGIRouteHandler]:
    """What answers under /api: every operation that has an address, and a refusal elsewhere.

    `headers` are sent with every answer.
    """
    places = Places(PROTOCOL)

    async def api(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == ScopeType.HTTP, "no websocket is served"
        place = places.at(scope["raw_path"])
        operation = place.operation(scope["method"]) if place else None
        if operation is None:
            await respond(send, *nothing_there(scope, place, headers))
            return
        try:
            who = callers.bearer(header(scope, b"authorization"))
            args = await asked(scope, receive, place, lambda: dispatch.admit(operation, who))
            answering = dispatch(operation, who, args)
            if isinstance(args, dict) and "wait_seconds" in args:
                await respond(send, await while_there(receive, answering), headers)
            else:
                await respond(send, await answering, headers)
        except Exception:
            fault = Fault(clock.new_id("fault"))
            log.exception("fault %s at %s", fault.fault_id, operation.http)
            await respond(send, fault, headers)

    return [asgi("/api", is_mount=True, name="api", copy_scope=False)(api)]


async def while_there(receive: Receive, answering: Coroutine[Any, Any, Struct]) -> Struct:
    """The answer, unless its caller hangs up first: then nobody waits for it any longer.

    What was queued to be written is done nevertheless (contract §14: never half a write).
    """
    waiting = asyncio.current_task()
    assert waiting is not None
    watch = asyncio.ensure_future(end_with_caller(receive, waiting))
    try:
        return await answering
    except asyncio.CancelledError:
        if not watch.done():
            raise  # the server stops
        waiting.uncancel()
        return HUNG_UP
    finally:
        watch.cancel()


async def end_with_caller(receive: Receive, waiting: asyncio.Task[Any]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass  # a body, which a GET has no use for
    waiting.cancel()


def nothing_there(
    scope: HTTPScope, place: Place | None, headers: Headers
) -> tuple[Refused, Headers, HTTPStatus]:
    """The answer at an address that is no operation's, or to a method it does not answer."""
    if place is None:
        path = scope["raw_path"].decode("latin-1")
        return refusals.unknown_address(path).refused, headers, HTTPStatus.NOT_FOUND
    refused = refusals.invalid_input([f"this address answers {place.allow}"]).refused
    extra = [*headers, (b"allow", place.allow.encode())]
    return refused, extra, HTTPStatus.METHOD_NOT_ALLOWED


async def asked(scope: HTTPScope, receive: Receive, place: Place | None, admit: Admit) -> Any:
    """The arguments that were sent, or the Refuse that reading them ended in."""
    try:
        return await arguments(scope, receive, place.given if place else {}, admit)
    except Refuse as refusal:
        return refusal


async def arguments(
    scope: HTTPScope, receive: Receive, in_path: dict[str, str], admit: Admit
) -> Any:
    """What the caller sent: body or query, and the names in the path.

    Returns the operation's arguments. Raises Refuse for what is no JSON object, or too large.
    """
    if scope["method"] in ("GET", "HEAD", "DELETE"):
        if header(scope, b"content-length") not in (None, "0") or header(
            scope, b"transfer-encoding"
        ):
            raise refusals.invalid_input(["arguments stand in the query here; leave the body out"])
        given: Any = from_query(scope["query_string"])
    else:
        if scope["query_string"]:
            raise refusals.invalid_input(["arguments stand in the body here; leave the query out"])
        given = await from_body(await read_body(scope, receive, limits.BODY_BYTES_MAX, admit))
    if in_path and isinstance(given, dict):
        problems = [f"{name} is already given by the path" for name in in_path if name in given]
        for name, value in in_path.items():
            problems += text_problems(name, value)
        if problems:
            raise refusals.invalid_input(problems)
        given |= in_path
    return given


async def from_body(body: bytes) -> Any:
    try:
        if len(body) > _PARSE_ASIDE_BYTES:
            return await asyncio.to_thread(strict_json.parse, body)
        return strict_json.parse(body) if body else {}
    except strict_json.NotStrictJson as wrong:
        raise refusals.invalid_input(wrong.problems) from None


def from_query(query: bytes) -> dict[str, str]:
    if not query:
        return {}
    if len(query) > limits.QUERY_BYTES_MAX:
        most = limits.QUERY_BYTES_MAX
        raise refusals.invalid_input([f"the query is larger than {most:,} bytes"])
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise refusals.invalid_input(["the query is not percent-encoded UTF-8"]) from None
    given: dict[str, str] = {}
    problems: dict[str, None] = {}  # each told once, in order
    for name, value in pairs:
        if name in given:
            problems[f"{shown(name)} is given twice"] = None
        given[name] = value
        for problem in (*text_problems("a query name", name), *text_problems(shown(name), value)):
            problems[problem] = None
    if problems:
        raise refusals.invalid_input(list(problems)[:_PROBLEMS_MAX])
    return given


def text_problems(name: str, value: str) -> list[str]:
    """Text from an address obeys the same rules as text in JSON (contract §3)."""
    problem = strict_json.text_problem(value)
    return [] if problem is None else [f"{name} {problem}"]


async def read_body(
    scope: Scope, receive: Receive, most: int, admit: Admit = lambda: None
) -> bytes:
    """The whole body. Raises Refuse(too_large) as soon as it is known to exceed `most` bytes.

    Much is read only from those whom `admit` does not refuse: anybody can send.
    """
    announced = header(scope, b"content-length")
    if announced and announced.isdecimal() and int(announced) > most:
        raise refusals.too_large("the body", most)
    parts: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise refusals.invalid_input(["the body ended before it was complete"])
        parts.append(message["body"])
        size += len(message["body"])
        if size > most:
            raise refusals.too_large("the body", most)
        if size > _PARSE_ASIDE_BYTES >= size - len(parts[-1]):
            admit()
        more = message["more_body"]
    return parts[0] if len(parts) == 1 else b"".join(parts)


def header(scope: Scope, name: bytes) -> str | None:
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


#: The statuses of answers that are neither a plain answer nor a refusal.
OTHERWISE: dict[type[Struct], HTTPStatus] = {
    Working: HTTPStatus.ACCEPTED,
    Busy: HTTPStatus.TOO_MANY_REQUESTS,
    Fault: HTTPStatus.INTERNAL_SERVER_ERROR,
}


def status_of(answer: Struct) -> HTTPStatus:
    if isinstance(answer, Refused):
        return STATUS[answer.code]
    return OTHERWISE.get(type(answer), HTTPStatus.OK)


async def respond(
    send: Send, answer: Struct, headers: Headers, status: HTTPStatus | None = None
) -> None:
    status = status or status_of(answer)
    body = _encode(answer)
    about: Headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *headers,
    ]
    if isinstance(answer, Refused):
        about += refusal_headers(answer, status)
    elif isinstance(answer, Busy):
        about += retry_after(answer.retry_at)
    await send({"type": "http.response.start", "status": int(status), "headers": about})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def refusal_headers(refused: Refused, status: HTTPStatus) -> Headers:
    if status == HTTPStatus.UNAUTHORIZED:
        return [(b"www-authenticate", b'Bearer realm="agentworks"')]
    if refused.code is RefusalCode.UNAVAILABLE:
        return [(b"retry-after", str(_RETRY_SOON).encode())]
    return [] if refused.retry_at is None else retry_after(refused.retry_at)


def retry_after(moment: str) -> Headers:
    """RFC 9110 §10.2.3, from an RFC 3339 time."""
    return [(b"retry-after", str(refusals.seconds_until(moment)).encode())]
