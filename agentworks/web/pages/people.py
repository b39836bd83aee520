"""The accounts of this server: its owner invites people and shuts accounts out."""

from __future__ import annotations

from agentworks.contracts.accounts import ACCOUNTS, DISABLE, INVITE, Invited
from agentworks.contracts.refusal import Refused
from agentworks.web.visits import Elsewhere, Page, Visit, no, page, refusal
from agentworks.web.words import No


async def show(visit: Visit) -> Page:
    return await listing(visit)


async def invite(visit: Visit) -> Page:
    """Shows the link in its answer: it is known only now, and a redirect would carry it on."""
    answer = await visit.ask(INVITE, account_name=visit.form.text("account_name"))
    if isinstance(answer, Refused):
        return await listing(visit, no(answer))
    return await listing(visit, invited=answer)


async def disable(visit: Visit) -> Page | Elsewhere:
    answer = await visit.ask(DISABLE, account_id=visit.form.text("account_id"))
    if isinstance(answer, Refused):
        return refusal(answer)
    return Elsewhere(location="/people", notice="account-disabled")


async def listing(visit: Visit, said: No | None = None, invited: Invited | None = None) -> Page:
    accounts = (await visit.sure(ACCOUNTS)).accounts
    return page(
        "people.html", said, accounts=accounts, typed=visit.form, invited=invited, base=visit.base
    )
