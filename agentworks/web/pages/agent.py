"""One named agent: the connections that may use its name, and its removal."""

from __future__ import annotations

from agentworks.contracts.accounts import CONNECTIONS
from agentworks.contracts.messages import LIST_AGENTS, REGISTER, UNREGISTER, NamedAgent
from agentworks.contracts.refusal import Refused
from agentworks.web.forms import Form
from agentworks.web.pages.connect import is_live
from agentworks.web.visits import Elsewhere, Page, Visit, no, not_found, page
from agentworks.web.words import No


async def show(visit: Visit) -> Page:
    return await shown(visit)


async def change(visit: Visit) -> Page | Elsewhere:
    agent = await named(visit)
    if agent is None:
        return not_found()  # to register it anew here would make somebody else of it
    answer = await visit.ask(
        REGISTER,
        agent_name=agent.agent_name,
        allowed_connection_ids=visit.form.chosen("connection"),
    )
    if isinstance(answer, Refused):
        return await shown(visit, no(answer), visit.form)
    return Elsewhere(location="/connect", notice="agent-changed")


async def remove(visit: Visit) -> Page | Elsewhere:
    answer = await visit.ask(UNREGISTER, agent_name=visit.params["agent_name"])
    if isinstance(answer, Refused):
        return await shown(visit, no(answer))
    return Elsewhere(location="/connect", notice="agent-removed")


async def named(visit: Visit) -> NamedAgent | None:
    wanted = visit.params["agent_name"].lower()
    agents = (await visit.sure(LIST_AGENTS)).agents
    return next((each for each in agents if each.agent_name.lower() == wanted), None)


async def shown(visit: Visit, said: No | None = None, typed: Form | None = None) -> Page:
    agent = await named(visit)
    if agent is None:
        return not_found()
    connections = (await visit.sure(CONNECTIONS)).connections
    return page(
        "agent.html",
        said,
        agent=agent,
        typed=typed or Form({}, {"connection": agent.allowed_connection_ids}),
        connections=[each for each in connections if is_live(each)],
    )
