"""An answer as HTTP wants it: status, headers, cookies, and the page itself."""

from __future__ import annotations

from http import HTTPStatus

from litestar.types import Send
from msgspec.structs import replace

from agentworks.web.cookies import NOTICE, Cookie, cookie_line
from agentworks.web.headers import KEPT_FOR_EVER, NEVER_KEPT, SECURITY_HEADERS, Header
from agentworks.web.incoming import Incoming
from agentworks.web.shelf import Static
from agentworks.web.visits import Elsewhere, Page

_NOTICE_SECONDS = 60  # how long a notice waits for the page that shows it


def with_cookie(answer: Page, cookie: Cookie) -> Page:
    return replace(answer, cookies=(*answer.cookies, cookie))


async def send_answer(send: Send, found: Incoming, answer: Page | Elsewhere, body: bytes) -> None:
    """Send a page with its rendered `body`, or a redirect, whose reload repeats nothing."""
    if isinstance(answer, Elsewhere):
        cookies = answer.cookies
        if answer.notice:
            cookies = (*cookies, Cookie(NOTICE, answer.notice, _NOTICE_SECONDS))
        about = [(b"location", answer.location.encode()), NEVER_KEPT, *_set(found, cookies)]
        await _send(send, found, HTTPStatus.SEE_OTHER, about, b"")
        return
    about = [(b"content-type", b"text/html; charset=utf-8"), NEVER_KEPT]
    about += _set(found, answer.cookies)
    if answer.allow:
        about.append((b"allow", answer.allow.encode()))
    if answer.retry_seconds:
        about.append((b"retry-after", str(answer.retry_seconds).encode()))
    if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        about.append((b"connection", b"close"))  # nobody reads the rest of the body
    await _send(send, found, answer.status, about, body)


async def send_file(send: Send, found: Incoming, file: Static) -> None:
    about: list[Header] = [(b"content-type", file.media_type), KEPT_FOR_EVER]
    await _send(send, found, HTTPStatus.OK, about, file.content)


def _set(found: Incoming, cookies: tuple[Cookie, ...]) -> list[Header]:
    return [(b"set-cookie", cookie_line(each, found.https, found.host)) for each in cookies]


async def _send(send: Send, found: Incoming, status: int, about: list[Header], body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send(
        {
            "type": "http.response.start",
            "status": int(status),
            "headers": [*about, length, *SECURITY_HEADERS],
        }
    )
    shown = b"" if found.method == "HEAD" else body
    await send({"type": "http.response.body", "body": shown, "more_body": False})
