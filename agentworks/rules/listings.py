"""What a list shows of an agent: enough to choose by, in 40 to 60 tokens ([S4] "list_agents")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from agentworks.contracts.refusal import FunctionHelp, Input
from agentworks.rules import limits
from agentworks.rules.conversion import bare
from agentworks.rules.names import name_key
from agentworks.rules.signatures import help_for, signature

ASK = "ask"
ASK_DESCRIPTION = "Ask it anything in plain words, with the operation agents.ask."
#: The function that every Crew and workflow has ([S4] principle 3, contract §5).
ASK_HELP: FunctionHelp = help_for(
    ASK, [Input(name="message", type="string", required=True, description="The question.")]
)
ASKED = frozenset({"crew", "workflow"})  # the kinds of agent that have it
A_CALL = "a call"  # of a function that this reader may not know
_BUSY_LENGTH_MAX = 60  # characters
_CAUSES = {
    "ask": "a question",
    "messages": "messages",
    "wakeup": "a wakeup",
    "steer": "a question",
    "notify": "the outcome of a call",
    "trigger": "a trigger",
}


def about_shown(about: str) -> str:
    """On one line, and no longer than a list has room for."""
    return cut(" ".join(about.split()), limits.ABOUT_SHOWN_MAX)


def signatures_shown(functions: Sequence[tuple[str, Sequence[Input]]]) -> list[str]:
    """The first three signatures, and how many more there are."""
    most = limits.SIGNATURES_SHOWN_MAX
    shown = [
        cut(signature(name, inputs), limits.SIGNATURE_SHOWN_MAX)
        for name, inputs in functions[:most]
    ]
    more = len(functions) - most
    return [*shown, f"+{more} more"] if more > 0 else shown


def cut(text: str, length_max: int) -> str:
    return text if len(text) <= length_max else text[: length_max - 1] + "…"


def busy_with(cause: str, function: str | None, args: str | None, inputs: Sequence[Input]) -> str:
    """What one running turn is about: `review_pr for PR_NUMBER 151`, or `messages`.

    `args` is the JSON of its arguments; None where they are not for this caller to see.
    """
    if function is None or function == ASK:
        return _CAUSES.get(cause, "a turn")
    given: dict[str, Any] = {} if args is None else msgspec.json.decode(args)
    for each in inputs:
        value = given.get(each.name)
        if each.default is UNSET and isinstance(value, str | int | float):
            return cut(f"{function} for {each.name} {bare(value)}", _BUSY_LENGTH_MAX)
    return function


def busy_shown(turns: Sequence[str]) -> str:
    """The longest running turn, and how many there are besides."""
    more = len(turns) - 1
    return f"{turns[0]} and {more} more" if more > 0 else "".join(turns)


def is_meant(query: str, name: str, about: str, functions: Sequence[str]) -> bool:
    """Whether a search finds an agent: its name, or every word of the search somewhere."""
    wanted, key = name_key(query), name_key(name)
    if wanted and wanted in key:
        return True
    told = "\n".join((name, about, *functions)).casefold()
    return all(word in told for word in query.casefold().split())
