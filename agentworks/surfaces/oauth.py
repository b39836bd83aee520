"""Sign-in for programs, as standard clients speak it: forms in, RFC 6749 JSON out.

The device flow (RFC 8628), renewal (RFC 6749 §6), revocation (RFC 7009) and the metadata that
names them (RFC 8414). A person approves on the Connect page; nothing here needs a credential but
the one that is handed in.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

import msgspec
from litestar import asgi
from litestar.enums import ScopeType
from litestar.handlers import ASGIRouteHandler
from litestar.types import HTTPScope, Receive, Scope, Send

from agentworks import clock
from agentworks.contracts import operation
from agentworks.contracts.refusal import Refuse
from agentworks.identity import devices, tokens
from agentworks.identity.tokens import Denied, Granted
from agentworks.rules import limits, refusals
from agentworks.rules.sign_in import in_order, label_problems
from agentworks.store import Full, Held, Store
from agentworks.surfaces.http import STATUS, Headers, header, read_body

log = logging.getLogger("agentworks.oauth")

DEVICE_CODE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_SCOPES_DEFAULT = "read run"  # what a program asks for that names no scope (RFC 6749 §3.3)
_RETRY_SOON = 1  # seconds
_HOST = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")

_HEADERS: Headers = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"pragma", b"no-cache"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]
_encode = msgspec.json.Encoder().encode

Answer = dict[str, Any]


class Asked(NamedTuple):
    """One request: its parameters, the client's address, and this server as the client names it."""

    form: Mapping[str, str]
    address: str
    base: str


Respond = Callable[[Asked], Awaitable[Answer]]


class Turned(Exception):
    """Ends a request with an OAuth error: a word of RFC 6749 §5.2 and a sentence."""

    def __init__(
        self,
        word: str,
        why: str,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        *more: tuple[bytes, bytes],
    ) -> None:
        super().__init__(word, why)
        self.word, self.why, self.status, self.more = word, why, status, more


def routes(store: Store, key: bytes, base_url: str) -> list[ASGIRouteHandler]:
    """`key` is identity/key.py's; `base_url` is this server, for a client that names no host."""
    return [
        _route("/.well-known/oauth-authorization-server", "GET", base_url, metadata),
        _route(
            "/oauth/device_authorization", "POST", base_url, partial(device_authorization, store)
        ),
        _route("/oauth/token", "POST", base_url, partial(token, store, key)),
        _route("/oauth/revoke", "POST", base_url, partial(revoke, store)),
    ]


async def metadata(asked: Asked) -> Answer:
    """RFC 8414 §2, with RFC 8628 §4: what there is, and nothing that is not there yet."""
    return {
        "issuer": asked.base,
        "device_authorization_endpoint": f"{asked.base}/oauth/device_authorization",
        "token_endpoint": f"{asked.base}/oauth/token",
        "revocation_endpoint": f"{asked.base}/oauth/revoke",
        "scopes_supported": [scope.value for scope in operation.Scope],
        "response_types_supported": [],
        "grant_types_supported": [DEVICE_CODE_GRANT, "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
    }


# ── the three requests ───────────────────────────────────────────────────────────────────────


async def device_authorization(store: Store, asked: Asked) -> Answer:
    """RFC 8628 §3.1. `label` is ours: what the person sees instead of the client_id."""
    client_id, scope = asked.form.get("client_id", ""), asked.form.get("scope", _SCOPES_DEFAULT)
    label = asked.form.get("label", client_id)
    problems = client_problems(client_id)
    problems += label_problems(label) if "label" in asked.form else []
    if problems:
        raise Turned("invalid_request", "; ".join(problems))
    known = {each.value for each in operation.Scope}
    if not scope.split() or not set(scope.split()) <= known:
        raise Turned("invalid_scope", f"scope may hold {', '.join(sorted(known))}")
    while True:
        codes = devices.fresh_codes()
        ask = partial(devices.ask, codes=codes, label=label, scopes=in_order(scope.split()))
        if await store.transact(partial(ask, address=asked.address)):
            break
    user_code = devices.shown(codes.user)
    return {
        "device_code": codes.device,
        "user_code": user_code,
        "verification_uri": f"{asked.base}/connect",
        "verification_uri_complete": f"{asked.base}/connect?code={quote(user_code)}",
        "expires_in": limits.DEVICE_CODE_SECONDS,
        "interval": limits.DEVICE_POLL_SECONDS,
    }


def client_problems(client_id: str) -> list[str]:
    """Clients are public and need not register: any visible ASCII names one (RFC 6749 A.1)."""
    if not client_id:
        return ["client_id is required"]
    if len(client_id) > limits.LABEL_LENGTH_MAX or not (
        client_id.isascii() and client_id.isprintable()
    ):
        return [f"client_id is at most {limits.LABEL_LENGTH_MAX} visible ASCII characters"]
    return []


async def token(store: Store, key: bytes, asked: Asked) -> Answer:
    """RFC 8628 §3.4 and RFC 6749 §6."""
    match asked.form.get("grant_type"):
        case "refresh_token":
            spent = required(asked.form, "refresh_token")
            answer = await store.transact(partial(tokens.renew, key=key, refresh_token=spent))
        case grant if grant == DEVICE_CODE_GRANT:
            code = required(asked.form, "device_code", "client_id")
            answer = await store.transact(partial(devices.poll, key=key, device_code=code))
        case None:
            raise Turned("invalid_request", "grant_type is required")
        case _:
            raise Turned("unsupported_grant_type", "see /.well-known/oauth-authorization-server")
    if isinstance(answer, Denied):
        raise Turned(answer.word, answer.why)
    return token_answer(answer)


def token_answer(granted: Granted) -> Answer:
    """RFC 6749 §5.1; `connection_id` is ours, and no secret."""
    return {"token_type": "Bearer", **msgspec.structs.asdict(granted)}


async def revoke(store: Store, asked: Asked) -> Answer:
    """RFC 7009: any token of a connection ends it whole; an unknown token is no mistake."""
    spent = required(asked.form, "token")
    await store.transact(partial(tokens.revoke, token=spent))
    return {}


def required(form: Mapping[str, str], *names: str) -> str:
    """The first of these fields. Refuses with all that are missing."""
    missing = [f"{name} is required" for name in names if name not in form]
    if missing:
        raise Turned("invalid_request", "; ".join(missing))
    return form[names[0]]


# ── the wire ─────────────────────────────────────────────────────────────────────────────────


def _route(path: str, method: str, base_url: str, respond: Respond) -> ASGIRouteHandler:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == ScopeType.HTTP, "no websocket is served"
        status, headers = HTTPStatus.OK, [*_HEADERS]
        try:
            said = await _said(scope, receive, method, base_url, respond)
        except Turned as turned:
            status = turned.status
            headers += turned.more
            said = {"error": turned.word, "error_description": turned.why}
        body = _encode(said)
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": int(status), "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    return asgi(path, name=path, copy_scope=False)(answer)


async def _said(
    scope: HTTPScope, receive: Receive, method: str, base_url: str, respond: Respond
) -> Answer:
    """The answer, or Turned, whatever goes wrong."""
    if scope["method"] != method:
        allow = (b"allow", method.encode())
        status = HTTPStatus.METHOD_NOT_ALLOWED
        raise Turned("invalid_request", f"this address answers {method}", status, allow)
    try:
        form = await _form(scope, receive) if method == "POST" else {}
        client = scope["client"]
        return await respond(Asked(form, client[0] if client else "", _base(scope, base_url)))
    except Turned:
        raise
    except Refuse as refusal:
        raise _limited(refusal) from None
    except Full:
        why = "the disk is full; nothing was stored"
        raise Turned("server_error", why, HTTPStatus.INSUFFICIENT_STORAGE) from None
    except Held:
        soon = (b"retry-after", str(_RETRY_SOON).encode())
        status = HTTPStatus.SERVICE_UNAVAILABLE
        raise Turned("temporarily_unavailable", "too much waits", status, soon) from None
    except Exception:
        fault_id = clock.new_id("fault")
        log.exception("fault %s in %s", fault_id, scope["path"])
        raise Turned("server_error", fault_id, HTTPStatus.INTERNAL_SERVER_ERROR) from None


def _base(scope: HTTPScope, base_url: str) -> str:
    """This server as the client reached it: its links must lead the same way."""
    host = header(scope, b"host") or ""
    return f"{scope['scheme']}://{host}" if _HOST.fullmatch(host) else base_url


def _limited(refusal: Refuse) -> Turned:
    """A body that is no form or too large, or a limit on how often somebody may ask."""
    refused = refusal.refused
    why, status = "; ".join(refused.problems), STATUS[refused.code]
    if refused.retry_at is None:
        return Turned("invalid_request", why, status)
    later = (b"retry-after", str(refusals.seconds_until(refused.retry_at)).encode())
    return Turned("temporarily_unavailable", why, status, later)


async def _form(scope: HTTPScope, receive: Receive) -> Mapping[str, str]:
    """The parameters. None may be given twice, and one without a value counts as left out
    (RFC 6749 §3.2); what nobody knows is ignored."""
    kind = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    body = await read_body(scope, receive, limits.FORM_BYTES_MAX)
    if kind != "application/x-www-form-urlencoded":
        raise Turned("invalid_request", "the body must be application/x-www-form-urlencoded")
    try:
        pairs = parse_qsl(
            body.decode("utf-8"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=limits.FORM_FIELDS_MAX,
        )
    except ValueError:
        most = limits.FORM_FIELDS_MAX
        why = f"the body must be percent-encoded UTF-8 with at most {most} parameters"
        raise Turned("invalid_request", why) from None
    form = dict(pairs)
    if len(form) < len(pairs):
        raise Turned("invalid_request", "a parameter is given twice")
    return {name: value for name, value in form.items() if value}
