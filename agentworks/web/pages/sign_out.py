"""Signing out of this browser."""

from __future__ import annotations

from agentworks.contracts.refusal import Refused
from agentworks.identity import people
from agentworks.web.cookies import SESSION, Cookie
from agentworks.web.visits import Elsewhere, Page, Visit, page, refusal


async def show(visit: Visit) -> Page:
    return page("sign_out.html")


async def sign_out(visit: Visit) -> Page | Elsewhere:
    answer = await people.sign_out(visit.site.store, visit.secret)
    if isinstance(answer, Refused):
        return refusal(answer)
    gone = Cookie(SESSION, "", 0)
    return Elsewhere(location="/sign-in", notice="signed-out", cookies=(gone,))
