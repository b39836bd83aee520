"""Signing in with a name and a password."""

from __future__ import annotations

from agentworks.contracts.refusal import Refused
from agentworks.identity import people
from agentworks.identity.people import Session
from agentworks.rules import limits
from agentworks.web.cookies import SESSION, Cookie
from agentworks.web.forms import local
from agentworks.web.visits import Elsewhere, Page, Visit, no, page
from agentworks.web.words import No

_DAY = 86_400  # seconds


async def show(visit: Visit) -> Page | Elsewhere:
    back = local(visit.query.get("next", ""))
    if visit.person is not None:
        return Elsewhere(location=back)
    return form(visit, back)


async def sign_in(visit: Visit) -> Page | Elsewhere:
    back = local(visit.form.text("next"))
    name, password = visit.form.text("account_name"), visit.form.text("password")
    answer = await people.sign_in(visit.site.store, name, password, visit.address)
    if isinstance(answer, Refused):
        return form(visit, back, no(answer))
    if visit.person is not None:  # somebody else was signed in here until now
        await people.sign_out(visit.site.store, visit.secret)
    return Elsewhere(location=back, cookies=(session_cookie(answer),))


def form(visit: Visit, back: str, said: No | None = None) -> Page:
    return page(
        "sign_in.html",
        said,
        person=None,
        token=visit.token,
        typed=visit.form.without("password"),
        back=back,
    )


def session_cookie(session: Session) -> Cookie:
    return Cookie(SESSION, session.secret, limits.SESSION_DAYS * _DAY)
