"""What a schema's keyword asks of a value, in our words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentworks.rules.conversion import NOUNS, bare, got
from agentworks.rules.wording import shown

_NAMES_SHOWN_MAX = 10  # names or choices inside one sentence
_NOUNS = {**NOUNS, "null": "null"}


def demand(keyword: str, wanted: Any) -> str:
    """`must be at least 3`, for the keyword "minimum" and 3."""
    words = _WORDS.get(keyword)
    if words is None:
        return f"does not satisfy {keyword} {got(wanted)}"
    return words(wanted) if callable(words) else words.format(shown(wanted))


def listed(names: list[Any]) -> str:
    """Some words of a list, and how many there are beyond them."""
    more = len(names) - _NAMES_SHOWN_MAX
    words = ", ".join(map(bare, names[:_NAMES_SHOWN_MAX]))
    return f"{words} and {more} more" if more > 0 else words


def _type(wanted: Any) -> str:
    names = wanted if isinstance(wanted, list) else [wanted]
    return f"must be {' or '.join(_NOUNS.get(each, str(each)) for each in names)}"


_WORDS: dict[str, str | Callable[[Any], str]] = {
    "type": _type,
    "enum": lambda wanted: f"must be one of: {listed(wanted)}",
    "const": "must be {}",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "pattern": "must match {}",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "uniqueItems": "must not hold the same item twice",
    "contains": "must hold an item as `contains` describes it",
    "minContains": "must hold at least {} items as `contains` describes them",
    "maxContains": "must hold at most {} items as `contains` describes them",
    "minProperties": "must have at least {} properties",
    "maxProperties": "must have at most {} properties",
    "not": "must not be what `not` describes",
    "false": "must not be there",
}
