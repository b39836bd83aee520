"""One connection: what it may do, and how to change or end it."""

from __future__ import annotations

from agentworks.contracts.accounts import CHANGE_CONNECTION, CONNECTIONS, REVOKE_CONNECTION
from agentworks.contracts.messages import LIST_AGENTS
from agentworks.contracts.refusal import Refused
from agentworks.web.forms import Form
from agentworks.web.pages import bounds, connect
from agentworks.web.visits import Elsewhere, Page, Visit, no, not_found, page
from agentworks.web.words import No


async def show(visit: Visit) -> Page:
    return await shown(visit)


async def change(visit: Visit) -> Page | Elsewhere:
    args = {"connection_id": visit.params["connection_id"], **bounds.arguments(visit.form)}
    found = bounds.problems(visit.form)
    if found:
        return await shown(visit, visit.wrong(CHANGE_CONNECTION, args, *found), visit.form)
    answer = await visit.ask(CHANGE_CONNECTION, **args)
    if isinstance(answer, Refused):
        return await shown(visit, no(answer), visit.form)
    return Elsewhere(location="/connect", notice="connection-changed")


async def revoke(visit: Visit) -> Page | Elsewhere:
    answer = await visit.ask(REVOKE_CONNECTION, connection_id=visit.params["connection_id"])
    if isinstance(answer, Refused):
        return await shown(visit, no(answer))
    return Elsewhere(location="/connect", notice="connection-revoked")


async def shown(visit: Visit, said: No | None = None, typed: Form | None = None) -> Page:
    wanted = visit.params["connection_id"]
    connections = (await visit.sure(CONNECTIONS)).connections
    view = next((each for each in connections if each.connection_id == wanted), None)
    if view is None:
        return not_found()
    agents = (await visit.sure(LIST_AGENTS)).agents
    return page(
        "connection.html",
        said,
        connection=view,
        live=connect.is_live(view),
        typed=typed or bounds.filled(view, agents),
        agents=agents,
        names=[each for each in agents if wanted in each.allowed_connection_ids],
        scopes=bounds.SCOPES,
        days=bounds.DAYS,
    )
