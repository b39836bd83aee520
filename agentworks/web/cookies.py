"""The three cookies of a page: who is signed in, which form is open, what was just done."""

from __future__ import annotations

from msgspec import Struct

SESSION = "session"  # the secret of a signed-in person's session
FORM = "form"  # a secret for the forms of people who are not signed in
NOTICE = "notice"  # a key of words.NOTICES, shown once


class Cookie(Struct, frozen=True):
    """`seconds` to keep it; 0 removes it."""

    kind: str
    value: str
    seconds: int


def cookie_name(kind: str, https: bool, host: str) -> str:
    """`aw_session_8420`: browsers share cookies between the ports of one host, servers do not.

    Over https the prefix `__Host-` keeps neighbouring hosts from planting one (RFC 6265bis).
    """
    port = host.rpartition(":")[2]
    place = f"_{port}" if port.isascii() and port.isdigit() else ""
    return f"{'__Host-' if https else ''}aw_{kind}{place}"


def cookie_line(cookie: Cookie, https: bool, host: str) -> bytes:
    """The `Set-Cookie` header. No script reads it; no foreign page's form sends it along."""
    name = cookie_name(cookie.kind, https, host)
    line = f"{name}={cookie.value}; Path=/; Max-Age={cookie.seconds}; HttpOnly; SameSite=Lax"
    return f"{line}; Secure".encode() if https else line.encode()
