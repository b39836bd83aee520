"""A visit: one request as a page sees it, and the two things a page can answer."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from agentworks.contracts.operation import Answer, Caller, Operation, Request
from agentworks.contracts.refusal import Fault, RefusalCode, Refuse, Refused
from agentworks.decoding import decode
from agentworks.dispatch import Dispatch
from agentworks.identity import callers
from agentworks.identity.callers import Who
from agentworks.store import Store
from agentworks.web import words
from agentworks.web.cookies import Cookie
from agentworks.web.forms import Form
from agentworks.web.words import No, Problem

#: The statuses of contract §3, for the codes an operation that a page asks may refuse with.
STATUSES: dict[RefusalCode, int] = {
    RefusalCode.UNAVAILABLE: 503,
    RefusalCode.TOO_LARGE: 413,
    RefusalCode.NOT_SIGNED_IN: 401,
    RefusalCode.NOT_PERMITTED: 403,
    RefusalCode.INVALID_INPUT: 400,
    RefusalCode.NOT_FOUND: 404,
    RefusalCode.EXPIRED: 410,
    RefusalCode.DISABLED: 410,
    RefusalCode.NOT_PENDING: 409,
    RefusalCode.RATE_LIMITED: 429,
    RefusalCode.STORAGE_FULL: 507,
}


class Site(Struct, frozen=True, kw_only=True):
    """What all pages share. `base` is the address to name where a browser gives none."""

    dispatch: Dispatch
    store: Store
    base: str


class Page(Struct, frozen=True, kw_only=True):
    """A rendered answer."""

    template: str
    values: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    cookies: tuple[Cookie, ...] = ()
    retry_seconds: int = 0
    allow: str = ""


class Elsewhere(Struct, frozen=True, kw_only=True):
    """A redirect to `location`, a path of this server; `notice` is a key of words.NOTICES."""

    location: str
    notice: str = ""
    cookies: tuple[Cookie, ...] = ()


class Turned(Exception):
    """Raised by a visit that ends before its page is reached; holds the answer instead."""

    def __init__(self, instead: Page | Elsewhere) -> None:
        super().__init__()
        self.instead = instead


class Visit(Struct, frozen=True, kw_only=True):
    """One request, checked. `params` come from the path, `query` from after the question mark.

    `person` is None on the pages that are open to all. `token` is what a form on the page must
    send back; `base` is this server's own address as the browser knows it.
    """

    site: Site
    path: str
    params: dict[str, str]
    query: dict[str, str]
    form: Form
    person: Caller | None
    secret: str
    token: str
    base: str
    address: str

    @property
    def who(self) -> Who:
        return callers.session(self.secret)

    async def ask(self, operation: Operation[Request, Answer], **args: Any) -> Answer | Refused:
        """Ask the server as this person. A session that has ended leads to the sign-in page."""
        answer = await self.site.dispatch(operation, self.who, args)
        if isinstance(answer, Fault):
            raise Turned(broken(answer.fault_id))
        if isinstance(answer, Refused) and answer.code is RefusalCode.NOT_SIGNED_IN:
            raise Turned(sign_in_first(self.path))
        return answer

    async def sure(self, operation: Operation[Request, Answer], **args: Any) -> Answer:
        """As `ask`, where a refusal leaves nothing to show but itself."""
        answer = await self.ask(operation, **args)
        if isinstance(answer, Refused):
            raise Turned(refusal(answer))
        return answer

    def wrong(self, operation: Operation[Any, Any], args: dict[str, Any], *found: Problem) -> No:
        """What the page found wrong, and what the operation would say of the rest, at once."""
        try:
            decode(operation, args)
        except Refuse as refusal:
            return no(refusal.refused, *found)
        return No(status=400, problems=found)


def page(template: str, said: No | None = None, /, **values: Any) -> Page:
    """`template` with `values`; after a refusal the same page again, and what is wrong."""
    if said is None:
        return Page(template=template, values=values)
    return Page(
        template=template,
        values={**values, "no": said},
        status=said.status,
        retry_seconds=said.retry_seconds,
    )


def no(refused: Refused, *more: Problem) -> No:
    """A refusal in words a person reads, after problems the page found itself."""
    return words.no(refused, STATUSES[refused.code], more)


def refusal(refused: Refused) -> Page:
    """A page of its own for a refusal."""
    said = no(refused)
    title = words.TITLES.get(said.status, "That did not work")
    return replace(plain(said.status, title, *said.sentences), retry_seconds=said.retry_seconds)


def plain(status: int, title: str, *sentences: str, allow: str = "") -> Page:
    """A page that only says something."""
    values = {"title": title, "sentences": sentences}
    return Page(template="plain.html", values=values, status=status, allow=allow)


def not_found() -> Page:
    return plain(404, "There is no such page", "Check the address, or start from the overview.")


def broken(fault_id: str) -> Page:
    return plain(
        500,
        "Something broke on this server",
        "It is not your fault. The server's log has the details under this number:",
        fault_id,
    )


def sign_in_first(path: str, notice: str = "") -> Elsewhere:
    """To the sign-in page, and from there back to `path`."""
    back = "" if path in ("/", "/sign-out") else f"?next={quote(path, safe='/')}"
    return Elsewhere(location=f"/sign-in{back}", notice=notice)
