"""Patterns that make backtracking matchers try without end; they are refused when saved.

Our own matcher does not backtrack, but a schema is read by others too: agents, pages, tools. A
backtracking matcher walks the pattern's position automaton one path after the other, so its time
is the number of paths that read the same text. Three bounds keep that number small, each checked
on the automaton and not guessed from the look of the pattern:
- no loop reads a text in two ways, as (a+)+ and (a|a)* do: that alone is exponential
  (Weideman et al. 2016, "Analyzing Matching Time Behavior of Backtracking …": EDA);
- few loops leave it open when they end, as the first of .*a.* does: one power of the length each;
- outside loops, the choices that the next character does not decide multiply to little.
"""

from __future__ import annotations

from itertools import accumulate

from agentworks.rules.automata import BEFORE, Automaton, Pair
from agentworks.rules.patterns import Node, Ranges

POSITIONS_MAX = 250  # character sets in one pattern, as it is written
LOOP_POSITIONS_MAX = 40  # character sets in one loop
OPEN_LOOPS_MAX = 3  # loops whose end the next character does not decide
OPEN_CHOICES_MAX = 1_000  # ways that choices outside loops may multiply to


def trouble(tree: Node) -> str | None:
    """Why a backtracking matcher may never end on the pattern, or None. May raise BadPattern."""
    automaton = Automaton(tree, exact=False)
    if len(automaton.sets) > POSITIONS_MAX:
        return f"has more than {POSITIONS_MAX} character sets"
    loops = _loops(automaton.after)
    if any(len(loop) > LOOP_POSITIONS_MAX for loop in loops):
        return f"repeats more than {LOOP_POSITIONS_MAX} character sets together"
    if any(_is_ambiguous(automaton, loop) for loop in loops):
        return "repeats something that can match the same text in several ways"
    if sum(_is_open(automaton, set(loop)) for loop in loops) > OPEN_LOOPS_MAX:
        return f"has more than {OPEN_LOOPS_MAX} repetitions that can end at many places"
    if _open_choices(automaton, loops) > OPEN_CHOICES_MAX:
        return "has too many alternatives that begin alike"
    return None


def _is_ambiguous(automaton: Automaton, loop: list[int]) -> bool:
    """Two different ways around `loop` that read the same text: EDA, decided for certain."""
    within = set(loop)
    after = {at: [each for each in automaton.after[at] if each in within] for at in loop}
    if any(automaton.steps[at, each] > 1 for at in loop for each in after[at]):
        return True
    pairs = _pair_steps(automaton, loop, after)
    together = [(at, at) for at in loop]
    back: dict[Pair, list[Pair]] = {}
    for start, ends in pairs.items():
        for end in ends:
            back.setdefault(end, []).append(start)
    apart = _reach(pairs, together) - set(together)
    return bool(apart & _reach(back, together))


def _pair_steps(
    automaton: Automaton, loop: list[int], after: dict[int, list[int]]
) -> dict[Pair, list[Pair]]:
    """Two walkers over the loop who read the same character at every step."""
    sets = automaton.sets
    alike = {(one, other) for one in loop for other in loop if _share(sets[one], sets[other])}
    return {
        (one, other): [
            (left, right) for left in after[one] for right in after[other] if (left, right) in alike
        ]
        for one in loop
        for other in loop
    }


def _is_open(automaton: Automaton, loop: set[int]) -> bool:
    """True when a character may go on in `loop` and may as well go another way."""
    return any(
        on != other and _share(automaton.sets[on], automaton.sets[other])
        for at in loop
        for on in automaton.after[at]
        if on in loop
        for other in automaton.after[at]
    )


def _open_choices(automaton: Automaton, loops: list[list[int]]) -> int:
    """The product, over all states, of the ways that one next character leaves open."""
    loop_of = {at: index for index, loop in enumerate(loops) for at in loop}
    ways = 1
    for at, ends in automaton.after.items():
        out = [end for end in ends if end not in loop_of or loop_of[end] != loop_of.get(at)]
        ways *= _ways(automaton, at, out)
    return ways


def _ways(automaton: Automaton, at: int, ends: list[int]) -> int:
    """The most ways, over all characters, to go on from `at` to one of `ends`."""
    changes: list[Pair] = []
    for end in ends:
        ways = automaton.steps[at, end]
        for low, high in automaton.sets[end]:
            changes += [(low, ways), (high + 1, -ways)]
    return max(1, *accumulate((change for _, change in sorted(changes)), initial=0))


def _share(one: Ranges, other: Ranges) -> bool:
    return any(low <= end and start <= high for low, high in one for start, end in other)


def _reach(steps: dict[Pair, list[Pair]], start: list[Pair]) -> set[Pair]:
    seen = set(start)
    waiting = list(start)
    while waiting:
        for each in steps.get(waiting.pop(), []):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


def _loops(after: dict[int, list[int]]) -> list[list[int]]:
    """The states that can come back to themselves, grouped by the loop they are in.

    What lies ahead of a state is kept as bits (Warshall); the first state has nothing behind it.
    """
    states = [at for at in after if at != BEFORE]
    ahead = {at: sum(1 << each for each in after[at]) for at in states}
    for middle in states:
        for at in states:
            if ahead[at] >> middle & 1:
                ahead[at] |= ahead[middle]
    loops: dict[int, list[int]] = {}
    for at in states:
        if ahead[at] >> at & 1:
            behind = sum(1 << each for each in states if ahead[each] >> at & 1)
            loops.setdefault(ahead[at] & behind, []).append(at)
    return list(loops.values())
