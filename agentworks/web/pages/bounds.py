"""How far a program may go: the same inputs for letting one in and for changing a connection."""

from __future__ import annotations

from typing import Any

from agentworks.contracts.accounts import ConnectionView
from agentworks.contracts.messages import NamedAgent
from agentworks.web.forms import Form
from agentworks.web.words import Problem

FIELDS = ("label", "bounds", "other_targets", "expires_days")
CHOICES = ("scope", "target")

EVERY, SOME = "every", "some"
AS_IT_IS = ""  # the choice that leaves the ending of a connection alone
DAYS = ("1", "7", "30", "90", "365")

#: What each scope means to the person who grants it (contract §2).
SCOPES = {
    "read": "list agents, and read messages and the state of calls",
    "run": "send messages, ask agents, call functions, register names",
    "author": "define agents, functions, triggers and releases",
}


def arguments(form: Form) -> dict[str, Any]:
    """The arguments of an approval or a change, as the form has them."""
    args: dict[str, Any] = {"label": form.text("label"), "scopes": form.chosen("scope")}
    args["targets"] = targets(form) if form.text("bounds") == SOME else []
    if form.text("expires_days") != AS_IT_IS:
        args["expires_days"] = form.text("expires_days")
    return args


def targets(form: Form) -> list[str]:
    """The agents that were ticked, and the ids that were typed, each once."""
    typed = form.text("other_targets").replace(",", " ").split()
    return list(dict.fromkeys([*form.chosen("target"), *typed]))


def problems(form: Form) -> list[Problem]:
    """What only the page can see: an empty list of targets would mean every target."""
    if form.text("bounds") not in (EVERY, SOME):
        return [Problem("Say whom it may reach: every agent, or only some.", "bounds")]
    if form.text("bounds") == SOME and not targets(form):
        return [Problem("Choose at least one agent it may reach, or let it reach all.", "bounds")]
    return []


def filled(view: ConnectionView, agents: list[NamedAgent]) -> Form:
    """The form as it shows a connection."""
    known = {each.registration_id for each in agents}
    return Form(
        {
            "label": view.label,
            "bounds": SOME if view.targets else EVERY,
            "other_targets": " ".join(each for each in view.targets if each not in known),
            "expires_days": AS_IT_IS,
        },
        {
            "scope": [each.value for each in view.scopes],
            "target": [each for each in view.targets if each in known],
        },
    )
