"""A one-time link: the owner's first start, or an invitation. Looking at it uses nothing up."""

from __future__ import annotations

from agentworks.contracts.refusal import RefusalCode, Refused
from agentworks.identity import people
from agentworks.rules import limits
from agentworks.rules.sign_in import name_problems, password_problems
from agentworks.tables.invitations import Invitation
from agentworks.web.pages.password import repeated
from agentworks.web.pages.sign_in import session_cookie
from agentworks.web.visits import Elsewhere, Page, Visit, no, page, plain, refusal
from agentworks.web.words import No, problem_from


async def show(visit: Visit) -> Page:
    invitation = await people.look_at_welcome(visit.site.store, visit.params["secret"])
    return over() if invitation is None else form(visit, invitation)


async def join(visit: Visit) -> Page | Elsewhere:
    store, secret = visit.site.store, visit.params["secret"]
    invitation = await people.look_at_welcome(store, secret)
    if invitation is None:
        return over()
    name, password = visit.form.text("account_name"), visit.form.text("password")
    found = repeated(visit.form)
    if found:
        more = name_problems(name) + password_problems(password)
        told = [problem_from(RefusalCode.INVALID_INPUT, each) for each in more]
        return form(visit, invitation, No(status=400, problems=(*told, *found)))
    answer = await people.welcome(store, secret, name, password)
    if isinstance(answer, Refused):
        if answer.code is RefusalCode.NOT_FOUND:
            return refusal(answer)
        return form(visit, invitation, no(answer))
    return Elsewhere(location="/connect", notice="welcome", cookies=(session_cookie(answer),))


def form(visit: Visit, invitation: Invitation, said: No | None = None) -> Page:
    return page(
        "welcome.html",
        said,
        person=None,
        token=visit.token,
        typed=visit.form.without("password", "again"),
        invitation=invitation,
        least=limits.PASSWORD_LENGTH_MIN,
    )


def over() -> Page:
    return plain(
        404,
        "This link no longer works",
        "It was used, replaced by a newer one, or has run out.",
        "Ask the owner of this server for a new invitation. If you are the owner and have no "
        "password yet, restart the server: it prints a new link.",
    )
