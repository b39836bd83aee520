"""A vetted schema as something that runs: does a value fit, and if not, what is wrong where.

Written for the keywords that rules/schemas.py lets through, because a result may have 16 MiB:
the general library takes 40 µs for a small object where this takes two, copies whole values into
its messages, and has no bound, while a thread that checks cannot be stopped. The tests hold this
against that library, keyword by keyword.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import NoneType
from typing import Any, NamedTuple, TypeAlias

from agentworks.rules.conversion import got
from agentworks.rules.sentences import demand

WORK_MAX = 30_000_000  # members, alternatives and characters looked at in one check

LIST, OBJECT = (list,), (dict,)
EVERY: tuple[type, ...] = (str, int, float, bool, NoneType, list, dict)

Fits: TypeAlias = Callable[[Any, "Meter"], bool]
Problem: TypeAlias = tuple[str, str]  # where, what
Tell: TypeAlias = Callable[[Any, str, "Meter"], Iterator[Problem]]


class TooMuchWork(Exception):
    """The schema's alternatives multiply on this value."""


class Meter:
    """Counts the work of one check and ends it."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = WORK_MAX

    def take(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise TooMuchWork


class Keyword(NamedTuple):
    """What one keyword asks of values of these types; others it does not concern."""

    types: tuple[type, ...]
    fits: Fits
    tell: Tell


class Check:
    """One schema. Filled in after it is made, so that schemas may refer to themselves."""

    __slots__ = ("_fits", "_keywords")

    def __init__(self) -> None:
        self._keywords: list[Keyword] = []
        self._fits: dict[type, tuple[Fits, ...]] = {}

    def fill(self, keywords: list[Keyword]) -> None:
        self._keywords = keywords
        self._fits = {
            kind: tuple(each.fits for each in keywords if kind in each.types) for kind in EVERY
        }

    def fits(self, value: Any, meter: Meter) -> bool:
        for fits in self._fits[type(value)]:
            if not fits(value, meter):
                return False
        return True

    def fit_by_type(self, values: list[Any]) -> bool:
        """True when no value needs a closer look; found out at the speed of C."""
        return not any(self._fits[kind] for kind in set(map(type, values)))

    def tell(self, value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        """Every problem with `value`, in the order of the schema."""
        for each in self._keywords:
            if type(value) in each.types and not each.fits(value, meter):
                yield from each.tell(value, at, meter)


def plain(
    keyword: str, wanted: Any, types: tuple[type, ...], test: Callable[[Any], bool]
) -> Keyword:
    """A keyword that judges a value as a whole."""
    return Keyword(
        types,
        lambda value, meter: test(value),
        lambda value, at, meter: iter([(at, but_got(demand(keyword, wanted), value))]),
    )


def but_got(words: str, value: Any) -> str:
    return f"{words} (got {got(value)})"
