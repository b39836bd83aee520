"""Names of agents: what one may be, when two are the same, and which was probably meant.

[S4] "Agents": names match ignoring case and punctuation. An agent's name is therefore unique
among its owner's agents by `name_key`, not by its spelling.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from agentworks.rules import limits
from agentworks.rules.wording import shown

_NEAR_SHARE = 0.6  # how alike two keys must be, as difflib counts
_NEAR_TOLD_MAX = 3  # names told to a caller who misspelt one
_COMPARED_MAX = 2_000  # names looked through for near ones
#: Categories that a terminal or a page might act on: controls, half characters, line separators.
_UNSEEN = frozenset(("Cc", "Cs", "Cn", "Zl", "Zp"))
_DECEIVING = frozenset("\u061c\u200b\u200e\u200f\u2060\ufeff") | frozenset(
    map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
)


@lru_cache(maxsize=4_096)
def name_key(name: str) -> str:
    """What names are compared by: letters and digits alone, without case or width."""
    plain = unicodedata.normalize("NFKC", name)
    return "".join(each for each in plain.casefold() if each.isalnum())


def name_problems(name: str, at: str = "name") -> list[str]:
    """Everything that keeps `name` from being an agent's; empty when nothing does."""
    problems = []
    if not 1 <= len(name) <= limits.NAME_LENGTH_MAX:
        problems.append(
            f"{at} must have 1 to {limits.NAME_LENGTH_MAX} characters (got {len(name):,})"
        )
    if any(unicodedata.category(each) in _UNSEEN or each in _DECEIVING for each in name):
        problems.append(f"{at} must not hold control or invisible characters (got {shown(name)})")
    if name != name.strip():
        problems.append(f"{at} must not begin or end with a blank (got {shown(name)})")
    if not name_key(name):
        problems.append(f"{at} must hold a letter or a digit (got {shown(name)})")
    return problems


def near(name: str, known: Iterable[str]) -> list[str]:
    """The known names that `name` may have been meant for, the likeliest first; at most three."""
    wanted = name_key(name)[: limits.NAME_LENGTH_MAX]
    if not wanted:
        return []
    keys: dict[str, str] = {}
    for each in list(known)[:_COMPARED_MAX]:
        keys.setdefault(name_key(each), each)
    alike = difflib.get_close_matches(wanted, list(keys), _NEAR_TOLD_MAX, _NEAR_SHARE)
    holding = [key for key in sorted(keys, key=len) if wanted in key or key in wanted]
    return [keys[key] for key in dict.fromkeys([*alike, *holding])][:_NEAR_TOLD_MAX]
