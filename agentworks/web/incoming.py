"""A request as HTTP brings it: its path, headers, cookies, origin and body, none of it trusted."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from litestar.types import HTTPScope, Receive
from msgspec import Struct

from agentworks.web.cookies import cookie_name
from agentworks.web.forms import BODY_BYTES_MAX, Unreadable, from_here, pairs

QUERY_BYTES_MAX = 8 * 1024  # bytes of one query string
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?")


class TooLarge(Exception):
    """The body is longer than any of our forms."""


class HungUp(Exception):
    """The browser went away before its request was whole."""


class Incoming(Struct, frozen=True, kw_only=True):
    """`segments` are the decoded parts of the path, None if they are no text.

    `target` is path and query as they were sent. `host` is how the browser names this server.
    """

    method: str
    segments: tuple[str, ...] | None
    target: str
    query: bytes
    headers: list[tuple[bytes, bytes]]
    https: bool
    host: str
    address: str

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def base(self) -> str:
        return f"{'https' if self.https else 'http'}://{self.host}"

    @property
    def is_ours(self) -> bool:
        """Whether the browser says that a page of this server sent it."""
        return from_here(
            self.host,
            values(self.headers, b"origin"),
            values(self.headers, b"sec-fetch-site"),
        )

    def cookie(self, kind: str) -> str:
        """A cookie of ours; empty if it is not there."""
        wanted = cookie_name(kind, self.https, self.host)
        for line in values(self.headers, b"cookie"):
            for pair in line.split(";"):
                name, _, value = pair.strip().partition("=")
                if name == wanted:
                    return value
        return ""

    def questions(self) -> dict[str, str]:
        """What stands after the question mark. Raises Unreadable."""
        if len(self.query) > QUERY_BYTES_MAX:
            raise Unreadable("the address is too long")
        found: dict[str, str] = {}
        for name, value in pairs(self.query.decode("latin-1")):
            if name in found:
                raise Unreadable(f"{name!r} stands twice in the address")
            found[name] = value
        return found


def incoming(scope: HTTPScope, host: str) -> Incoming:
    """What a server with `--behind-proxy` was told by its proxy is already in `scope`.

    `host` is how this server knows itself, for a browser that does not say.
    """
    found = list(scope["headers"])
    raw: bytes = scope.get("raw_path") or b"/"
    query: bytes = scope["query_string"]
    said = "".join(values(found, b"host"))
    return Incoming(
        method=scope["method"],
        segments=segments_of(raw),
        target=(raw + b"?" + query if query else raw).decode("latin-1"),
        query=query,
        headers=found,
        https=scope["scheme"] == "https",
        host=said if _HOST.fullmatch(said) else host,
        address=(scope["client"] or ("", 0))[0],
    )


def values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def segments_of(raw: bytes) -> tuple[str, ...] | None:
    """`/connect/A%2FB` is `("connect", "A/B")`; None for what is not UTF-8, or has a NUL."""
    path = raw.removeprefix(b"/").removesuffix(b"/")
    try:
        found = tuple(unquote_to_bytes(part).decode("utf-8") for part in path.split(b"/"))
    except UnicodeDecodeError:
        return None
    return None if any("\0" in part for part in found) else found


async def body_of(found: Incoming, receive: Receive) -> bytes:
    """The whole body. Raises TooLarge as soon as that is known, HungUp if it never ends."""
    announced = "".join(values(found.headers, b"content-length"))
    if announced.isascii() and announced.isdigit() and int(announced[:20]) > BODY_BYTES_MAX:
        raise TooLarge
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise HungUp
        body += message["body"]
        more = message["more_body"]
        if len(body) > BODY_BYTES_MAX:
            raise TooLarge
    return body
