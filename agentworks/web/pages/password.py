"""Changing one's password."""

from __future__ import annotations

from agentworks.contracts.refusal import RefusalCode, Refused
from agentworks.identity import people
from agentworks.rules import limits
from agentworks.rules.sign_in import password_problems
from agentworks.web.forms import Form
from agentworks.web.pages.sign_in import session_cookie
from agentworks.web.visits import Elsewhere, Page, Visit, no, page, sign_in_first
from agentworks.web.words import No, Problem, problem_from


async def show(visit: Visit) -> Page:
    return form()


async def change(visit: Visit) -> Page | Elsewhere:
    new = visit.form.text("password")
    found = repeated(visit.form)
    if found:
        told = [problem_from(RefusalCode.INVALID_INPUT, each) for each in password_problems(new)]
        return form(No(status=400, problems=(*told, *found)))
    old = visit.form.text("old_password")
    answer = await people.change_password(visit.site.store, visit.secret, old, new)
    if isinstance(answer, Refused):
        if answer.code is RefusalCode.NOT_SIGNED_IN:
            return sign_in_first(visit.path, "session-ended")
        return form(no(answer))
    return Elsewhere(location="/", notice="password-changed", cookies=(session_cookie(answer),))


def form(said: No | None = None) -> Page:
    return page("password.html", said, least=limits.PASSWORD_LENGTH_MIN)


def repeated(typed: Form) -> list[Problem]:
    """A password nobody can see is typed twice."""
    if typed.text("password") == typed.text("again"):
        return []
    return [Problem("The two passwords are not the same.", "again")]
