"""The Connect page: let a program in, see and end connections, manage named agents."""

from __future__ import annotations

from urllib.parse import quote

from agentworks.contracts.accounts import CONNECTIONS, FIND_DEVICE, ConnectionView
from agentworks.contracts.messages import LIST_AGENTS, REGISTER
from agentworks.contracts.refusal import Refused
from agentworks.web.forms import Form
from agentworks.web.visits import Elsewhere, Page, Visit, no, page
from agentworks.web.words import No, past

ENDED_SHOWN_MAX = 50  # ended connections on the page; the newest


async def show(visit: Visit) -> Page | Elsewhere:
    code = tidied(visit.query.get("code", ""))
    if code:
        return Elsewhere(location=device_path(code))
    return await listing(visit, visit.form)


async def find(visit: Visit) -> Page | Elsewhere:
    code = tidied(visit.form.text("user_code"))
    answer = await visit.ask(FIND_DEVICE, user_code=code)
    if isinstance(answer, Refused):
        return await listing(visit, visit.form, no(answer))
    return Elsewhere(location=device_path(answer.user_code))


async def register(visit: Visit) -> Page | Elsewhere:
    answer = await visit.ask(
        REGISTER,
        agent_name=visit.form.text("agent_name").strip(),
        allowed_connection_ids=visit.form.chosen("connection"),
    )
    if isinstance(answer, Refused):
        return await listing(visit, visit.form, no(answer))
    return Elsewhere(location="/connect", notice="agent-registered")


async def listing(visit: Visit, typed: Form, said: No | None = None) -> Page:
    connections = (await visit.sure(CONNECTIONS)).connections
    ended = [each for each in connections if not is_live(each)]
    agents = (await visit.sure(LIST_AGENTS)).agents
    return page(
        "connect.html",
        said,
        typed=typed,
        live=[each for each in connections if is_live(each)],
        ended=ended[:ENDED_SHOWN_MAX],
        ended_count=len(ended),
        labels={each.connection_id: each.label for each in connections},
        agents=agents,
        addresses={each.registration_id: each.address for each in agents},
        base=visit.base,
    )


def is_live(connection: ConnectionView) -> bool:
    return connection.revoked_at is None and not past(connection.expires_at)


def tidied(code: str) -> str:
    """A code as people type it: small letters, spaces around it."""
    return "".join(code.split()).upper()


def device_path(code: str) -> str:
    return f"/connect/{quote(code, safe='')}"
