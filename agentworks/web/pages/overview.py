"""The first page: who you are here, and where to go."""

from __future__ import annotations

from agentworks.contracts.accounts import CONNECTIONS, CONTEXT
from agentworks.contracts.messages import LIST_AGENTS
from agentworks.web.pages.connect import is_live
from agentworks.web.visits import Page, Visit, page


async def show(visit: Visit) -> Page:
    context = await visit.sure(CONTEXT)
    connections = (await visit.sure(CONNECTIONS)).connections
    return page(
        "overview.html",
        context=context,
        live=sum(is_live(each) for each in connections),
        agents=(await visit.sure(LIST_AGENTS)).agents,
    )
