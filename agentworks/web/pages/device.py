"""A program that waits to be let in (RFC 8628): what it asks, and the person's decision."""

from __future__ import annotations

from agentworks.contracts.accounts import (
    APPROVE_DEVICE,
    DENY_DEVICE,
    FIND_DEVICE,
    DeviceRequest,
)
from agentworks.contracts.messages import LIST_AGENTS
from agentworks.contracts.refusal import RefusalCode, Refused
from agentworks.web.forms import Form
from agentworks.web.pages import bounds, connect
from agentworks.web.visits import Elsewhere, Page, Visit, no, page, refusal
from agentworks.web.words import No


async def show(visit: Visit) -> Page | Elsewhere:
    code = connect.tidied(visit.params["user_code"])
    answer = await visit.ask(FIND_DEVICE, user_code=code)
    if isinstance(answer, Refused):
        return await connect.listing(visit, Form({"user_code": code}), no(answer))
    asked = Form(
        {"label": answer.label, "bounds": bounds.EVERY, "expires_days": "0"},
        {"scope": [each.value for each in answer.scopes]},
    )
    return await request(visit, answer, asked)


async def approve(visit: Visit) -> Page | Elsewhere:
    args = {"user_code": visit.params["user_code"], **bounds.arguments(visit.form)}
    found = bounds.problems(visit.form)
    if found:
        return await again(visit, visit.wrong(APPROVE_DEVICE, args, *found))
    answer = await visit.ask(APPROVE_DEVICE, **args)
    if isinstance(answer, Refused):
        return await again(visit, no(answer), answer)
    return Elsewhere(location="/connect", notice="approved")


async def deny(visit: Visit) -> Page | Elsewhere:
    answer = await visit.ask(DENY_DEVICE, user_code=visit.params["user_code"])
    if isinstance(answer, Refused):
        return refusal(answer)
    return Elsewhere(location="/connect", notice="denied")


async def again(visit: Visit, said: No, refused: Refused | None = None) -> Page | Elsewhere:
    """The same page with what was typed, while the program still waits."""
    if refused is not None and refused.code is not RefusalCode.INVALID_INPUT:
        return refusal(refused)
    waiting = await visit.ask(FIND_DEVICE, user_code=visit.params["user_code"])
    if isinstance(waiting, Refused):
        return refusal(waiting)
    return await request(visit, waiting, visit.form, said)


async def request(visit: Visit, asked: DeviceRequest, typed: Form, said: No | None = None) -> Page:
    return page(
        "device.html",
        said,
        asked=asked,
        typed=typed,
        agents=(await visit.sure(LIST_AGENTS)).agents,
        scopes=bounds.SCOPES,
        days=bounds.DAYS,
    )
