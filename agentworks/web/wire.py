"""Turns page functions into one ASGI application: find the place, check the visit, answer.

It routes by the undecoded path: a decoded one no longer tells `/` from `%2F`.
"""

from __future__ import annotations

import logging
from typing import NamedTuple
from urllib.parse import urlsplit

from litestar.enums import ScopeType
from litestar.types import Receive, Scope, Send
from msgspec.structs import replace

from agentworks import clock
from agentworks.contracts.operation import Caller
from agentworks.contracts.refusal import Refuse
from agentworks.identity import callers, people, secrets
from agentworks.rules import refusals
from agentworks.store import Full, Held
from agentworks.web import outgoing, words
from agentworks.web.cookies import FORM, NOTICE, SESSION, Cookie
from agentworks.web.forms import Form, Unreadable, parse
from agentworks.web.incoming import HungUp, Incoming, TooLarge, body_of, incoming, values
from agentworks.web.places import ACT, CSRF, Place, find
from agentworks.web.shelf import Shelf, Static
from agentworks.web.visits import (
    Elsewhere,
    Page,
    Site,
    Turned,
    Visit,
    broken,
    not_found,
    plain,
    refusal,
    sign_in_first,
)

log = logging.getLogger("agentworks.web")

_FORM_SECONDS = 7 * 86_400  # how long the page of somebody who is not signed in may stay open


class Visitor(NamedTuple):
    """Who has come: a person with a live session, or nobody."""

    person: Caller | None
    secret: str


class Pages:
    """The ASGI application of all pages. An address it does not know is an HTML 404."""

    def __init__(self, site: Site, shelf: Shelf, places: tuple[Place, ...]) -> None:
        self._site = site
        self._shelf = shelf
        self._places = places
        self._host = urlsplit(site.base).netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == ScopeType.HTTP, "no websocket is served"
        found = incoming(scope, self._host)
        file = self._file(found)
        if file is not None:
            await outgoing.send_file(send, found, file)
            return
        visitor = Visitor(None, "")
        try:
            visitor = self._visitor(found)
            answer = await self._answer(found, receive, visitor)
            answer, body = self._rendered(found, visitor, answer)
        except HungUp:
            return
        except Exception as raised:
            answer, body = self._rendered(found, visitor, instead_of(raised))
        await outgoing.send_answer(send, found, answer, body)

    def _file(self, found: Incoming) -> Static | None:
        match found.segments:
            case ("static", name) if found.method in ("GET", "HEAD"):
                return self._shelf.files.get(name)
        return None

    def _visitor(self, found: Incoming) -> Visitor:
        secret = found.cookie(SESSION)
        if secret:
            try:
                return Visitor(self._site.store.read(callers.session(secret))[0], secret)
            except Refuse:
                pass  # the session has ended: its secret opens nothing
        return Visitor(None, secret)

    async def _answer(
        self, found: Incoming, receive: Receive, visitor: Visitor
    ) -> Page | Elsewhere:
        here = find(self._places, found.segments)
        if here is None:
            return not_found()
        place, params = here
        turned_away = admitted(place, found, visitor)
        if turned_away is not None:
            return turned_away
        secret = visitor.secret
        if place.open:
            secret = found.cookie(FORM) or secrets.fresh("form")
        visit = self._visit(found, params, visitor, secret)
        if found.method == "POST":
            return await act(place, visit, found, receive, secret)
        answer = await place.show(visit)
        if place.open and isinstance(answer, Page):
            return outgoing.with_cookie(answer, Cookie(FORM, secret, _FORM_SECONDS))
        return answer

    def _visit(
        self, found: Incoming, params: dict[str, str], visitor: Visitor, secret: str
    ) -> Visit:
        try:
            query = found.questions()
        except Unreadable as why:
            raise Turned(
                plain(400, "That could not be read", words.in_a_sentence(str(why)))
            ) from None
        return Visit(
            site=self._site,
            path=found.path,
            params=params,
            query=query,
            form=Form(),
            person=visitor.person,
            secret=visitor.secret,
            token=people.csrf_for(secret),
            base=found.base,
            address=found.address,
        )

    def _rendered(
        self, found: Incoming, visitor: Visitor, answer: Page | Elsewhere
    ) -> tuple[Page | Elsewhere, bytes]:
        if isinstance(answer, Elsewhere):
            return answer, b""
        notice = ""
        if answer.status < 300:
            notice = words.NOTICES.get(found.cookie(NOTICE), "")
        shared = {
            "person": visitor.person,
            "token": people.csrf_for(visitor.secret) if visitor.person else "",
            "notice": notice,
            "no": None,
            "path": found.path,
            "base": found.base,
        }
        body = self._shelf.render(answer.template, {**shared, **answer.values})
        if notice:
            answer = outgoing.with_cookie(answer, Cookie(NOTICE, "", 0))
        return answer, body


def admitted(place: Place, found: Incoming, visitor: Visitor) -> Page | Elsewhere | None:
    """What turns a request away before its form is read; None if nothing does."""
    posted = found.method == "POST"
    if found.method not in place.methods:
        allow = ", ".join(place.methods)
        return plain(405, "This address is not asked that way", f"It takes {allow}.", allow=allow)
    if posted and not found.is_ours:
        return plain(
            403,
            "This form came from elsewhere",
            "Open the page on this server and fill it in there. If a proxy stands in front of "
            "this server, it must pass on the Host header it was given.",
        )
    if visitor.person is None and not place.open:
        back = found.path if posted else found.target
        return sign_in_first(back, "session-ended" if visitor.secret else "")
    return None


async def act(
    place: Place, visit: Visit, found: Incoming, receive: Receive, secret: str
) -> Page | Elsewhere:
    """Read the form, make sure that it is ours, and do what its button says."""
    kind = ",".join(values(found.headers, b"content-type"))
    try:
        form = parse(kind, await body_of(found, receive))
    except TooLarge:
        return plain(413, "That is too much for one form", "Send less.")
    except Unreadable as why:
        return plain(400, "That could not be read", words.in_a_sentence(str(why)))
    if not people.csrf_matches(secret, form.text(CSRF)):
        return out_of_date(place, found)
    pressed = place.acts.get(form.text(ACT))
    if pressed is None or not pressed.takes(form):
        return plain(400, "That could not be read", "The form has a field this page does not know.")
    return await pressed.perform(replace(visit, form=form.without(CSRF, ACT)))


def out_of_date(place: Place, found: Incoming) -> Page:
    if place.open and not found.cookie(FORM):
        return plain(
            403,
            "Your browser sent no cookie back",
            "Allow cookies for this server, then open the page again.",
        )
    return plain(
        403,
        "This form is out of date",
        "It was made for an earlier sign-in, and nothing was changed. Open the page again.",
    )


def instead_of(raised: Exception) -> Page | Elsewhere:
    """What a person sees when a visit ends early. A fault is logged under its number."""
    if isinstance(raised, Turned):
        return raised.instead
    if isinstance(raised, Refuse):
        return refusal(raised.refused)
    if isinstance(raised, Full):
        return refusal(refusals.storage_full().refused)
    if isinstance(raised, Held):
        return refusal(refusals.unavailable().refused)
    fault_id = clock.new_id("fault")
    log.error("fault %s in a page", fault_id, exc_info=raised)
    return broken(fault_id)
