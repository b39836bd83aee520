"""Whether a pattern is found in a text, in time that grows with the text and no faster.

All paths through the position automaton are walked at once, as the bits of one number, so there
is nothing to backtrack to. Python's `re` would hold every thread of the server while it tries.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from agentworks.rules.automata import BEFORE, Automaton
from agentworks.rules.patterns import END, START, read

_REMEMBERED_MAX = 10_000  # characters, and sets of states, whose successors are remembered


class Matcher:
    """A pattern that can be searched for. BadPattern if it cannot be read."""

    def __init__(self, pattern: str) -> None:
        automaton = Automaton(read(pattern), exact=True)
        self._always = automaton.empty
        self._last = sum(1 << at for at in automaton.last)
        self._after = [
            sum(1 << each for each in automaton.after[at]) for at in range(len(automaton.sets))
        ]
        self._first = sum(1 << each for each in automaton.after[BEFORE])
        self._bounds, self._able = _by_character(automaton)
        self._of_character: dict[str, int] = {}
        self._followed: dict[int, int] = {}

    def found_in(self, text: str, take: Callable[[int], None]) -> bool:
        """True when the pattern matches somewhere in `text`; `take` is told the work done."""
        take(len(text))
        if self._always:
            return True
        last, followed, of_character = self._last, self._followed, self._of_character
        states = self._first & self._taking(START[0][0])
        for character in text:
            if states & last:
                return True
            ahead = followed.get(states)
            if ahead is None:
                ahead = self._ahead(states, take)
            able = of_character.get(character)
            if able is None:
                able = self._of(character)
            states = ahead & able
        if states & last:
            return True
        return bool(self._ahead(states, take) & self._taking(END[0][0]) & last)

    def _of(self, character: str) -> int:
        if len(self._of_character) >= _REMEMBERED_MAX:
            self._of_character.clear()
        able = self._of_character[character] = self._taking(ord(character))
        return able

    def _ahead(self, states: int, take: Callable[[int], None]) -> int:
        """Where the next character may lead: on from `states`, or into a new beginning."""
        take(states.bit_count())
        ahead, left = self._first, states
        while left:
            lowest = left & -left
            ahead |= self._after[lowest.bit_length() - 1]
            left ^= lowest
        if len(self._followed) >= _REMEMBERED_MAX:
            self._followed.clear()
        self._followed[states] = ahead
        return ahead

    def _taking(self, character: int) -> int:
        """The states whose set holds `character`."""
        return self._able[bisect_right(self._bounds, character)]


def _by_character(automaton: Automaton) -> tuple[list[int], list[int]]:
    """The code points at which the states that can take a character change, and those states."""
    changes: dict[int, int] = {}
    for at, ranges in enumerate(automaton.sets):
        for low, high in ranges:
            changes[low] = changes.get(low, 0) ^ 1 << at
            changes[high + 1] = changes.get(high + 1, 0) ^ 1 << at
    bounds = sorted(changes)
    able = [0]
    for bound in bounds:
        able.append(able[-1] ^ changes[bound])
    return bounds, able


@lru_cache(maxsize=1024)
def matcher(pattern: str) -> Matcher:
    """The matcher of a pattern that was vetted when its schema was saved."""
    return Matcher(pattern)
