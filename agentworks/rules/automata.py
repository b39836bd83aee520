"""The position automaton of a pattern (Glushkov): one state for each character set in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from agentworks.rules.patterns import (
    END,
    START,
    BadPattern,
    Chars,
    Choice,
    Node,
    Ranges,
    Repeat,
    Sequence,
)

POSITIONS_MAX = 2_000  # character sets in one pattern, its repetitions written out
BEFORE = -1  # the state before the first character
Pair: TypeAlias = tuple[int, int]


class _Part(NamedTuple):
    """What a piece of pattern begins and ends with; counts are the number of ways."""

    empty: int
    first: Counter[int]
    last: Counter[int]


_NOTHING = _Part(1, Counter(), Counter())
_UNROLLED_MAX = 8  # x{m} up to here is written out in any case


class Automaton:
    """`steps` counts the ways in which one character set may follow another.

    With `exact`, x{2,4} is written out. Without, it counts as x+, which has no fewer ways and
    keeps the automaton as small as the pattern. BadPattern if it is too large, or has a part
    whose meaning depends on what is no character.
    """

    def __init__(self, tree: Node, *, exact: bool) -> None:
        self.exact = exact
        self.sets: list[Ranges] = []
        self.steps: Counter[Pair] = Counter()
        whole = self._add(tree)
        self.empty = whole.empty > 0
        self.last = frozenset(whole.last)
        self._connect(Counter({BEFORE: 1}), whole.first)
        self.after: dict[int, list[int]] = {at: [] for at in range(BEFORE, len(self.sets))}
        for start, end in self.steps:
            self.after[start].append(end)
        self._check_edges()

    def _check_edges(self) -> None:
        """^ and $ are read like characters, each once; ^^ would ask for a second."""
        edges = (START, END)
        for start, end in self.steps:
            if start != BEFORE and self.sets[start] in edges and self.sets[end] in edges:
                if (self.sets[start], self.sets[end]) != edges:
                    raise BadPattern("has ^ or $ twice in a row, or $ before ^")

    def _add(self, node: Node) -> _Part:
        if isinstance(node, Chars):
            return self._position(node.ranges)
        if isinstance(node, Sequence):
            return self._in_order(map(self._add, node.parts))
        if isinstance(node, Choice):
            parts = [self._add(each) for each in node.options]
            return _Part(
                sum(each.empty for each in parts),
                sum((each.first for each in parts), Counter()),
                sum((each.last for each in parts), Counter()),
            )
        return self._repeated(node)

    def _position(self, ranges: Ranges) -> _Part:
        if len(self.sets) >= POSITIONS_MAX:
            raise BadPattern(f"has more than {POSITIONS_MAX:,} characters, repetitions written out")
        self.sets.append(ranges)
        here = Counter({len(self.sets) - 1: 1})
        return _Part(0, here, here)

    def _in_order(self, parts: Iterable[_Part]) -> _Part:
        whole = _NOTHING
        for part in parts:
            self._connect(whole.last, part.first)
            whole = _Part(
                whole.empty * part.empty,
                whole.first + _times(part.first, whole.empty),
                part.last + _times(whole.last, part.empty),
            )
        return whole

    def _repeated(self, node: Repeat) -> _Part:
        if node.most == 0:
            return _NOTHING
        part = self._add(node.body)
        if node.most == 1:
            return part._replace(empty=part.empty + (node.least == 0))
        if part.empty:
            raise BadPattern("repeats something that may be empty")
        if self.exact or (node.least == node.most and _is_short(node)):
            return self._written_out(part, node)
        self._connect(part.last, part.first)
        return part._replace(empty=int(node.least == 0))

    def _written_out(self, part: _Part, node: Repeat) -> _Part:
        """x{2,4} as xx(x(x)?)?, and x{2,} as xx+; `part` is the last x."""
        if node.most is None:
            self._connect(part.last, part.first)
            part = part._replace(empty=int(node.least == 0))
            ahead = max(node.least - 1, 0)
        else:
            for index in range(node.most - 1, node.least - 1, -1):
                part = part._replace(empty=1)
                if index > 0:
                    part = self._in_order((self._add(node.body), part))
            ahead = max(node.least - 1, 0)
        return self._in_order([*(self._add(node.body) for _ in range(ahead)), part])

    def _connect(self, ends: Counter[int], beginnings: Counter[int]) -> None:
        for end, ways in ends.items():
            for beginning, more in beginnings.items():
                self.steps[end, beginning] += ways * more


def _is_short(node: Repeat) -> bool:
    return isinstance(node.body, Chars) and node.least <= _UNROLLED_MAX


def _times(counts: Counter[int], ways: int) -> Counter[int]:
    return Counter({each: count * ways for each, count in counts.items()}) if ways else Counter()
