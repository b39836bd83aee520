"""What a name, a password, a label and target bounds must be. Each check tells every problem.

Problems begin with the input's name, as decoding's do, so that a page can put them beside it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from agentworks.contracts.accounts import ACCOUNT_NAME_PATTERN
from agentworks.contracts.operation import Scope
from agentworks.rules import limits
from agentworks.rules.wording import shown

_NAME = re.compile(ACCOUNT_NAME_PATTERN)
_DECEIVING = re.compile("[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def name_problems(name: str) -> list[str]:
    if _NAME.fullmatch(name):  # fullmatch: `$` alone would let a line break pass at the end
        return []
    return [
        f"account_name is 1 to 64 letters, digits and . _ @ + -, and starts with a letter or a "
        f"digit (got {shown(name)})"
    ]


def password_problems(password: str) -> list[str]:
    """Length alone decides (NIST SP 800-63B §3.1.1.2); no rules about kinds of characters."""
    size = len(password)
    if size < limits.PASSWORD_LENGTH_MIN:
        return [f"password has {size} characters; at least {limits.PASSWORD_LENGTH_MIN} are needed"]
    if size > limits.PASSWORD_LENGTH_MAX:
        return [
            f"password has {size:,} characters; at most {limits.PASSWORD_LENGTH_MAX:,} are allowed"
        ]
    return ["password holds a NUL or half a character"] if _broken(password) else []


def label_problems(label: str) -> list[str]:
    """A label is shown on pages and in terminals: nothing in it may act on either."""
    if len(label) > limits.LABEL_LENGTH_MAX:
        return [
            f"label has {len(label):,} characters; at most {limits.LABEL_LENGTH_MAX} are allowed"
        ]
    if not label.strip():
        return ["label must not be empty"]
    kinds = {unicodedata.category(each) for each in label}
    if kinds & {"Cc", "Cs"} or _DECEIVING.search(label):
        return ["label must not hold control characters"]
    return []


def target_problems(targets: Iterable[str]) -> list[str]:
    """Ids are kept in one text, parted by spaces; an id has none."""
    given = list(targets)
    problems = []
    if len(given) > limits.TARGETS_MAX:
        problems.append(f"targets holds {len(given):,}; at most {limits.TARGETS_MAX:,} are allowed")
    for place, each in enumerate(given[: limits.TARGETS_MAX]):
        if not 0 < len(each) <= limits.TARGET_LENGTH_MAX or not (
            each.isprintable() and " " not in each
        ):
            problems.append(f"targets[{place}] is no id (got {shown(each)})")
    return problems


def in_order(scopes: Iterable[str]) -> str:
    """Scopes as they are kept: each once, in the order of `Scope`, parted by spaces."""
    wanted = set(scopes)
    return " ".join(scope.value for scope in Scope if scope.value in wanted)


def _broken(text: str) -> bool:
    return "\0" in text or any("\ud800" <= each <= "\udfff" for each in text)
