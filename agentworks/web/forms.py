"""What a browser sends with a form, read strictly: every doubt is a problem, never a guess."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes, urlsplit

from msgspec import Struct, field

BODY_BYTES_MAX = 64 * 1024  # bytes of one form
_LOCAL_LENGTH_MAX = 2_000  # characters of an address to return to
_MEDIA_TYPE = "application/x-www-form-urlencoded"
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Unreadable(Exception):
    """The body is no form that one of our pages could have sent; says why."""


class Form(Struct, frozen=True):
    """The fields of a form. A choice of several is sent as one field each: `scope:read=on`."""

    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)

    def text(self, name: str, otherwise: str = "") -> str:
        return self.fields.get(name, otherwise)

    def chosen(self, name: str) -> list[str]:
        return self.choices.get(name, [])

    def without(self, *names: str) -> Form:
        """The same without these fields: what may be shown again."""
        kept = {name: value for name, value in self.fields.items() if name not in names}
        return Form(kept, self.choices)


def parse(content_type: str, body: bytes) -> Form:
    """The form in a body. Raises Unreadable, naming the field where there is one."""
    if content_type.partition(";")[0].strip().lower() != _MEDIA_TYPE:
        raise Unreadable(f"a form is sent as {_MEDIA_TYPE}")
    form = Form()
    for name, value in pairs(_ascii(body)):
        choice, colon, chosen = name.partition(":")
        if colon:
            if chosen in form.choices.setdefault(choice, []):
                raise Unreadable(f"the choice {name!r} was sent twice")
            form.choices[choice].append(chosen)
        elif name in form.fields:
            raise Unreadable(f"the field {name!r} was sent twice")
        else:
            form.fields[name] = value
    return form


def pairs(text: str) -> list[tuple[str, str]]:
    """The names and values of a form or a query string, in their order. Raises Unreadable."""
    found = []
    for pair in text.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            plain = _plain(name, "a field's name")
            found.append((plain, _plain(value, f"the field {plain!r}")))
    return found


def _ascii(body: bytes) -> str:
    try:
        return body.decode("ascii")
    except UnicodeDecodeError:
        raise Unreadable("the form holds bytes that are not percent-encoded") from None


def _plain(text: str, what: str) -> str:
    if _PERCENT.search(text):
        raise Unreadable(f"{what} has a percent sign that encodes nothing")
    try:
        plain = unquote_to_bytes(text.replace("+", " ")).decode("utf-8")
    except UnicodeError:
        raise Unreadable(f"{what} is not UTF-8 text") from None
    if "\0" in plain:
        raise Unreadable(f"{what} holds a NUL character")
    return plain


def local(address: str) -> str:
    """`address` if it is a path of this server, else `/`.

    Browsers read `//host`, `/\\host` and both with tabs inside as another server.
    """
    if not address.startswith("/") or len(address) > _LOCAL_LENGTH_MAX or "\\" in address:
        return "/"
    if not address.isascii() or any(not "!" <= character <= "~" for character in address):
        return "/"
    try:
        parts = urlsplit(address)
    except ValueError:
        return "/"
    return address if not parts.scheme and not parts.netloc and address[1:2] != "/" else "/"


def from_here(host: str, origins: list[str], sites: list[str]) -> bool:
    """Whether a browser says that one of our own pages sent this (Fetch, `Sec-Fetch-Site`).

    A client that sends neither header is judged by its CSRF token alone.
    """
    own = {f"http://{host.lower()}", f"https://{host.lower()}"}
    return all(origin.lower() in own for origin in origins) and all(
        site in ("same-origin", "none") for site in sites
    )
