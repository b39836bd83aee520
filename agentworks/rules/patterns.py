"""The regular expressions a schema may hold, read into a tree.

JSON Schema means those of ECMA-262. Taken is what describes a regular language: sets, groups,
alternatives, repetitions and the two edges of the text; not look-around, back-references or word
edges. So a pattern can be matched without backtracking (rules/matching.py), whatever the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

PATTERN_LENGTH_MAX = 500  # characters of one pattern
REPEAT_COUNT_MAX = 1_000  # the largest m and n in {m,n}
_GROUP_DEPTH_MAX = 20  # groups within groups

Ranges: TypeAlias = tuple[tuple[int, int], ...]  # code points, both ends included, in order


class BadPattern(Exception):
    """The pattern is outside what is allowed; the text says what and, if known, what to write."""


class Chars(NamedTuple):
    """One character out of a set."""

    ranges: Ranges


class Sequence(NamedTuple):
    parts: tuple[Node, ...]


class Choice(NamedTuple):
    options: tuple[Node, ...]


class Repeat(NamedTuple):
    """`most` is None when there is no upper bound. Lazy or greedy makes no difference here."""

    body: Node
    least: int
    most: int | None


Node: TypeAlias = Chars | Sequence | Choice | Repeat

START: Ranges = ((0x110000, 0x110000),)  # beyond Unicode: read before the text, as ^
END: Ranges = ((0x110001, 0x110001),)  # and after it, as $

_LAST = 0x10FFFF
_DIGITS: Ranges = ((48, 57),)
_WORDS: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_BLANKS: Ranges = (
    *((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
    *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_EDGES = {"^": Chars(START), "$": Chars(END)}
_COUNTS = re.compile(r"\{([0-9]{1,6})(?:(,)([0-9]{0,6}))?\}")
_CODE = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})")
_SPECIAL = "*+?{}()|"


def without(ranges: Ranges) -> Ranges:
    """Every character but these."""
    kept, start = [], 0
    for low, high in ranges:
        if low > start:
            kept.append((start, low - 1))
        start = high + 1
    return (*kept, (start, _LAST)) if start <= _LAST else tuple(kept)


def merged(ranges: list[tuple[int, int]]) -> Ranges:
    """The same characters in order, each once."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


_CLASSES = {"d": _DIGITS, "w": _WORDS, "s": _BLANKS}
_CLASSES |= {name.upper(): without(ranges) for name, ranges in _CLASSES.items()}
_DOT = without(((10, 10), (13, 13), (0x2028, 0x2029)))


def read(pattern: str) -> Node:
    """The tree of `pattern`, or BadPattern."""
    if len(pattern) > PATTERN_LENGTH_MAX:
        raise BadPattern(f"is longer than {PATTERN_LENGTH_MAX} characters")
    reader = _Reader(pattern)
    tree = reader.choice(0)
    if reader.rest():
        raise BadPattern("has a ) that closes nothing")
    return tree


class _Reader:
    """Reads one pattern from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def rest(self) -> str:
        return self.text[self.at :]

    def take(self, token: str) -> bool:
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def next(self) -> str:
        if self.at >= len(self.text):
            raise BadPattern("ends in the middle")
        self.at += 1
        return self.text[self.at - 1]

    def choice(self, depth: int) -> Node:
        if depth > _GROUP_DEPTH_MAX:
            raise BadPattern(f"has more than {_GROUP_DEPTH_MAX} groups within one another")
        options = [self.sequence(depth)]
        while self.take("|"):
            options.append(self.sequence(depth))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self.repeated(depth))
        return Sequence(tuple(parts))

    def repeated(self, depth: int) -> Node:
        body = self.atom(depth)
        counts = self.counts()
        if counts is None:
            return body
        if body in _EDGES.values():
            raise BadPattern("repeats ^ or $, which have no length")
        self.take("?")
        if self.counts() is not None:
            raise BadPattern("repeats a repetition")
        return Repeat(body, *counts)

    def counts(self) -> tuple[int, int | None] | None:
        for sign, counts in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return counts
        found = _COUNTS.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else None
        if max(least, most or 0) > REPEAT_COUNT_MAX:
            raise BadPattern(f"repeats more than {REPEAT_COUNT_MAX:,} times")
        if most is not None and most < least:
            raise BadPattern(f"has {found[0]}, whose bounds are in the wrong order")
        return least, most

    def atom(self, depth: int) -> Node:
        if self.take("("):
            return self.group(depth)
        if self.take("["):
            return Chars(self.set())
        if self.take("."):
            return Chars(_DOT)
        if self.take("\\"):
            return Chars(self.escape())
        sign = self.next()
        if sign in _EDGES:
            return _EDGES[sign]
        if sign in _SPECIAL:
            raise BadPattern(f"has a {sign} with nothing before it; write \\{sign} for the sign")
        return Chars(((ord(sign), ord(sign)),))

    def group(self, depth: int) -> Node:
        if not self.take("?:") and self.take("?"):
            raise BadPattern("looks around or names a group; only (…) and (?:…) are allowed")
        inner = self.choice(depth + 1)
        if not self.take(")"):
            raise BadPattern("has a ( that is never closed")
        return inner

    def escape(self) -> Ranges:
        """After a backslash: a class, a control, a code or a sign."""
        code = _CODE.match(self.text, self.at)
        if code is not None:
            self.at = code.end()
            return self.code(int(code[1] or code[2], 16))
        sign = self.next()
        if sign in _CLASSES:
            return _CLASSES[sign]
        if sign in _CONTROLS:
            return self.code(_CONTROLS[sign])
        if sign.isalnum() or sign == "_" or not sign.isascii():
            kind = "refers back" if sign.isdigit() else f"has \\{sign}, which is not allowed"
            raise BadPattern(kind)
        return ((ord(sign), ord(sign)),)

    def code(self, point: int) -> Ranges:
        if 0xD800 <= point <= 0xDFFF:
            raise BadPattern("spells half of a surrogate pair; write the character itself")
        return ((point, point),)

    def set(self) -> Ranges:
        """After `[`: single characters, ranges and classes up to `]`."""
        negated = self.take("^")
        found: list[tuple[int, int]] = []
        while not self.take("]"):
            low = self.member()
            if not self.take("-"):
                found += low
            elif self.rest().startswith("]"):
                found += [*low, (ord("-"), ord("-"))]
            else:
                found.append(_span(low, self.member()))
        ranges = merged(found)
        ranges = without(ranges) if negated else ranges
        if not ranges:
            raise BadPattern("has a set [] that no character is in")
        return ranges

    def member(self) -> Ranges:
        if self.take("\\"):
            return self.escape()
        sign = self.next()
        return ((ord(sign), ord(sign)),)


def _span(low: Ranges, high: Ranges) -> tuple[int, int]:
    (first, first_end), (last, last_end) = low[0], high[-1]
    if len(low) > 1 or len(high) > 1 or first != first_end or last != last_end or first > last:
        raise BadPattern("has a range in [] whose ends are not characters in order")
    return first, last
