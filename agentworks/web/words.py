"""What pages say: refusals, times and notices in words a person reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from agentworks import clock
from agentworks.contracts.refusal import RefusalCode, Refused
from agentworks.rules import limits
from agentworks.rules.refusals import seconds_until

TITLES = {
    401: "Please sign in",
    400: "That could not be read",
    403: "You may not do this",
    404: "There is no such thing",
    409: "That is no longer open",
    429: "Too many attempts",
    503: "The server is busy",
    507: "The server's disk is full",
}

#: What a page says after a form has done its work, by the key a redirect carries.
NOTICES = {
    "signed-out": "You are signed out.",
    "session-ended": "Your session has ended, and nothing was changed. Sign in to go on.",
    "approved": "The program is let in. Go back to its window: it continues by itself.",
    "denied": "The program was turned away.",
    "connection-changed": "The connection is changed.",
    "connection-revoked": "The connection is revoked. Its tokens no longer work.",
    "agent-registered": "The name is registered.",
    "agent-changed": "The list of connections is changed.",
    "agent-removed": "The name is removed.",
    "account-disabled": "The account is disabled. Its sessions and connections no longer work.",
    "password-changed": "Your password is changed. Other browsers are signed out.",
    "welcome": "You are signed in. Connect your first program below.",
}

#: A request's field → the id of its input on the page, how to call it, and what it must be; the
#: last is empty where the protocol's own words will do.
_ABOUT = {
    "label": ("label", "The label", ""),
    "scopes": ("scopes", "What it may do", "needs at least one choice"),
    "targets": ("bounds", "Whom it may reach", "takes up to 1,000 agents, each by its id"),
    "expires_days": ("expires_days", "When it ends", "is one of the choices shown"),
    "user_code": ("user_code", "The code", "is 8 letters, such as WDJB-MJHT"),
    "agent_name": (
        "agent_name",
        "The name",
        "is 1 to 64 letters, digits, dots, dashes and underscores, and starts with a letter or "
        "a digit",
    ),
    "allowed_connection_ids": (
        "connections",
        "The connections",
        f"can be at most {limits.ALLOWED_CONNECTIONS_MAX}",
    ),
    "account_name": (
        "account_name",
        "The name",
        "is 1 to 64 letters, digits and . _ @ + -, and starts with a letter or a digit",
    ),
    "password": ("password", "The password", ""),
    "old_password": ("old_password", "The present password", ""),
}
_FIELD = re.compile(r"^([a-z_]+)(\[\d+\])?(?= )")
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


class Problem(Struct, frozen=True):
    """One thing that is wrong, and the id of the input it is about, if it is one."""

    sentence: str
    about: str = ""


class No(Struct, frozen=True, kw_only=True):
    """Why a form was not followed: an HTTP status and what to mend."""

    status: int
    problems: tuple[Problem, ...]
    retry_seconds: int = 0

    @property
    def sentences(self) -> list[str]:
        return [each.sentence for each in self.problems]

    def about(self, field: str) -> str:
        """What is wrong with one input; empty when nothing is."""
        return " ".join(each.sentence for each in self.problems if each.about == field)


def no(refused: Refused, status: int, more: Iterable[Problem] = ()) -> No:
    """A refusal, and `more` problems that only the page could see."""
    found: list[Problem] = []
    for sentence in refused.problems:
        problem = problem_from(refused.code, sentence)
        if problem not in found:
            found.append(problem)
    found += more
    seconds = 0
    if refused.retry_at is not None:
        seconds = seconds_until(refused.retry_at)
        whole = seconds if seconds < 60 else -(-seconds // 60) * 60  # never told too soon
        found.append(Problem(f"Try again in {span(whole)}."))
    return No(status=status, problems=tuple(found), retry_seconds=seconds)


def problem_from(code: RefusalCode, sentence: str) -> Problem:
    """A sentence of the protocol as a sentence of a page, beside the input it speaks of."""
    named = _FIELD.match(sentence)
    if code is RefusalCode.INVALID_INPUT and named and named[1] in _ABOUT:
        place, subject, rule = _ABOUT[named[1]]
        said = sentence[named.end() + 1 :].rstrip(".")
        if rule and not said.startswith("must be "):
            said = rule  # instead of a pattern that only a program reads
        return Problem(f"{subject} {said}.", place)
    return Problem(in_a_sentence(sentence))


def in_a_sentence(words: str) -> str:
    """With a capital letter and a full stop."""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


# ── Times ────────────────────────────────────────────────────────────────────────────────────


def date(at: str) -> str:
    """`1 Dec 2026` (UTC: the server cannot know where its reader is)."""
    moment = datetime.fromisoformat(at)
    return f"{moment.day} {moment:%b %Y}"


def moment(at: str) -> str:
    """`1 Dec 2026, 09:30 UTC`."""
    return f"{date(at)}, {datetime.fromisoformat(at):%H:%M} UTC"


def instant(at: int) -> str:
    """As `moment`, of milliseconds since 1970."""
    return moment(clock.rfc3339(at))


def distance(at: str) -> str:
    """`5 minutes ago`, `in 29 days`, `now`."""
    seconds = round((clock.milliseconds(at) - clock.now()) / 1000)
    if abs(seconds) < 60:
        return "now" if seconds <= 0 else "in less than a minute"
    return f"in {span(seconds)}" if seconds > 0 else f"{span(-seconds)} ago"


def span(seconds: int) -> str:
    """A length of time in its largest whole unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            count = round(seconds / size)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds} second{'' if seconds == 1 else 's'}"


def past(at: str | None) -> bool:
    return at is not None and clock.milliseconds(at) <= clock.now()
