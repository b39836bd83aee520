"""The protocol as an OpenAPI 3.1 document, made from the declarations and served as JSON.

Every refusal an operation declares is described under its status. The document is built once,
when it is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec
from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send
from msgspec import Struct

from agentworks import __version__
from agentworks.contracts import PROTOCOL
from agentworks.contracts.operation import Operation
from agentworks.contracts.refusal import Fault, RefusalCode, Refused
from agentworks.surfaces import http

ADDRESS = "/api/openapi.json"
_REF = "#/components/schemas/{name}"
_MEANING: dict[RefusalCode, str] = {
    RefusalCode.UNAVAILABLE: "too much is waiting; retry soon",
    RefusalCode.TOO_LARGE: "the body or a value is over its limit",
    RefusalCode.NOT_SIGNED_IN: "no live credential",
    RefusalCode.NOT_PERMITTED: "this connection may not do this",
    RefusalCode.INVALID_INPUT: "the arguments are wrong; `try` is the corrected call",
    RefusalCode.SUBMISSION_CONFLICT: "the submission_id names a different request",
    RefusalCode.NOT_FOUND: "unknown, or not yours to see",
    RefusalCode.AMBIGUOUS_TARGET: "several match; `matches` lists them",
    RefusalCode.UNKNOWN_FUNCTION: "the target has no such function; `functions` lists its own",
    RefusalCode.EXPIRED: "it existed and its retention ended",
    RefusalCode.DISABLED: "switched off by its owner",
    RefusalCode.NOT_PENDING: "already answered, ended or taken",
    RefusalCode.MESSAGING_OFF: "the receiver takes no messages from programs",
    RefusalCode.LOOP_REFUSED: "the chain of callers is too long, or circular",
    RefusalCode.NO_RUNTIME: "the target has nothing to run it",
    RefusalCode.TEST_MODE: "a test run may not reach outside its project",
    RefusalCode.RATE_LIMITED: "too many; retry at `retry_at`",
    RefusalCode.INBOX_FULL: "a message under way keeps the inbox full; retry later",
    RefusalCode.BUSY: "every slot is taken; retry at `retry_at`",
    RefusalCode.STORAGE_FULL: "the server's disk is full; nothing was stored",
}


def routes(headers: http.Headers) -> list[ASGIRouteHandler]:
    async def openapi(scope: Scope, receive: Receive, send: Send) -> None:
        body = encoded()
        about = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *headers,
        ]
        await send({"type": "http.response.start", "status": 200, "headers": about})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    return [asgi(ADDRESS, copy_scope=False)(openapi)]


@lru_cache(maxsize=1)
def encoded() -> bytes:
    return msgspec.json.encode(document(PROTOCOL))


def document(protocol: Iterable[Operation[Any, Any]]) -> dict[str, Any]:
    """The whole document, for the operations that have an HTTP route."""
    offered = [each for each in protocol if each.http]
    types: list[type] = [Refused, Fault]
    for each in offered:
        types += [each.request, *each.answers]
    _, components = msgspec.json.schema_components(types, ref_template=_REF)
    for each in offered:
        _describe_items(each.request, components)
    paths: dict[str, Any] = {}
    for each in offered:
        method, path = (each.http or "").split()
        paths.setdefault(path, {})[method.lower()] = _operation(each, method, path, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "AgentWorks",
            "version": __version__,
            "description": "Direct messages and functions, for agents and people.",
        },
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _describe_items(request: type[Struct], components: dict[str, Any]) -> None:
    """A list whose elements are judged one by one is declared loosely; here it is told fully."""
    for field in msgspec.structs.fields(request):
        for note in getattr(field.type, "__metadata__", ()):
            items = (note.extra or {}).get("items")
            if items is not None:
                place = components[request.__name__]["properties"][field.encode_name]
                place["items"] = {"$ref": _REF.format(name=items.__name__)}


def _operation(
    operation: Operation[Any, Any], method: str, path: str, components: dict[str, Any]
) -> dict[str, Any]:
    schema = components[operation.request.__name__]
    in_path = re.findall(r"{(\w+)}", path)
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about,
        "tags": [operation.name.split(".")[0]],
        "parameters": [
            _parameter(name, about, schema, in_path)
            for name, about in schema.get("properties", {}).items()
            if name in in_path or method in ("GET", "DELETE")
        ],
        "responses": _responses(operation),
    }
    if method not in ("GET", "DELETE"):
        reference = {"$ref": _REF.format(name=operation.request.__name__)}
        described["requestBody"] = {"required": True, "content": _json(reference)}
    return described


def _parameter(
    name: str, about: dict[str, Any], schema: dict[str, Any], in_path: list[str]
) -> dict[str, Any]:
    return {
        "name": name,
        "in": "path" if name in in_path else "query",
        "required": name in in_path or name in schema.get("required", []),
        "description": about.get("description", ""),
        "schema": {key: value for key, value in about.items() if key != "description"},
    }


def _responses(operation: Operation[Any, Any]) -> dict[str, Any]:
    answers: list[dict[str, Any]] = [
        {"$ref": _REF.format(name=each.__name__)} for each in operation.answers
    ]
    told = answers[0] if len(answers) == 1 else {"oneOf": answers}
    responses: dict[str, Any] = {"200": {"description": operation.about, "content": _json(told)}}
    by_status: dict[int, list[RefusalCode]] = {}
    for code in operation.every_refusal:
        by_status.setdefault(int(http.STATUS[code]), []).append(code)
    for status, codes in sorted(by_status.items()):
        schema = {
            "allOf": [
                {"$ref": _REF.format(name="Refused")},
                {"properties": {"code": {"enum": [code.value for code in codes]}}},
            ]
        }
        meaning = "; ".join(f"`{code.value}`: {_MEANING[code]}" for code in codes)
        responses[str(status)] = {"description": meaning, "content": _json(schema)}
    fault = {"$ref": _REF.format(name="Fault")}
    responses["500"] = {"description": "our fault; quote its id", "content": _json(fault)}
    return responses


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
