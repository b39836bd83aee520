"""Patterns mean what ECMA-262 says, match in linear time, and none is saved that runs away."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from agentworks.rules.matching import Matcher
from agentworks.rules.patterns import BadPattern
from agentworks.rules.schemas import pattern_problem

CATASTROPHIC = [
    *["(a+)+$", "^(a+)+$", "(a*)*", "(a|a)*$", "(a|aa)+$", "(.*a){20}", "^(.*?,){11}P"],
    *[r"(\w+\s?)+$", r"^(([a-z])+.)+[A-Z]([a-z])+$", "([a-zA-Z]+)*x", "(x+x+)+y", "(a|b|ab)*c"],
    *["(x(a?|b?))*y", r"(\d|[0-9])*x", "(?:x?){25}x{25}", "((a{1,3}){1,3}){1,3}b", "(a?b?)*c"],
    *["a*a*a*a*a*b", r"\d+\d+\d+\d+\d+x", ".*.*.*.*=", "(ab)*(ab)*(ab)*(ab)*(ab)*c", "x?" * 30],
    *["(ab|ab)" * 20, "(a|b?)" * 20],
]
USUAL = [
    *["", "^$", r"\S", "^[a-z0-9]+(-[a-z0-9]+)*$", r"^\d{4}-\d{2}-\d{2}$", "^[0-9a-f]{40}$"],
    *[r"^(\d{1,3}\.){3}\d{1,3}$", r"^[^@\s]+@[^@\s]+\.[^@\s]+$", r"^https?://[^\s/]+(/.*)?$"],
    *[r"^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$", "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"],
    *["^.*foo.*$", r"^([01]\d|2[0-3]):[0-5]\d$", r"^(/[^/]+)+/?$", "^(foo|bar)+$", "[^]", r"[\w-]"],
    *[r"^[\w.-]+/[\w.-]+#\d+$", "^(feat|fix|docs)(\\([a-z-]+\\))?!?: .+$", "^#[0-9a-fA-F]{6}$"],
]


def found(pattern: str, text: str) -> bool:
    return Matcher(pattern).found_in(text, lambda work: None)


# ── what may be saved ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("pattern", CATASTROPHIC)
def test_a_pattern_that_runs_away_is_refused(pattern: str) -> None:
    assert pattern_problem(pattern)


@pytest.mark.parametrize("pattern", USUAL)
def test_a_usual_pattern_is_taken(pattern: str) -> None:
    assert pattern_problem(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(?=a)b", "looks around or names a group; only (…) and (?:…) are allowed"),
        ("(?<!a)b", "looks around or names a group; only (…) and (?:…) are allowed"),
        ("(?P<x>a)", "looks around or names a group; only (…) and (?:…) are allowed"),
        ("(?i)a", "looks around or names a group; only (…) and (?:…) are allowed"),
        (r"(a)\1", "refers back"),
        (r"\bword\b", "has \\b, which is not allowed"),
        (r"\p{L}", "has \\p, which is not allowed"),
        (r"\Z", "has \\Z, which is not allowed"),
        ("a**", "repeats a repetition"),
        ("a*+", "repeats a repetition"),
        ("^*", "repeats ^ or $, which have no length"),
        ("^^a", "has ^ or $ twice in a row, or $ before ^"),
        ("*a", "has a * with nothing before it; write \\* for the sign"),
        ("a{", "has a { with nothing before it; write \\{ for the sign"),
        ("a{3,1}", "has {3,1}, whose bounds are in the wrong order"),
        ("a{1001}", "repeats more than 1,000 times"),
        ("(a{1000}){1000}", "has more than 2,000 characters, repetitions written out"),
        ("(", "has a ( that is never closed"),
        ("a)", "has a ) that closes nothing"),
        ("[a", "ends in the middle"),
        ("[]", "has a set [] that no character is in"),
        ("[z-a]", "has a range in [] whose ends are not characters in order"),
        (r"[\d-x]", "has a range in [] whose ends are not characters in order"),
        ("\\", "ends in the middle"),
        (r"\ud800", "spells half of a surrogate pair; write the character itself"),
        ("(" * 30 + "a" + ")" * 30, "has more than 20 groups within one another"),
        ("x" * 501, "is longer than 500 characters"),
        ("(" + "ab" * 30 + ")*", "repeats more than 40 character sets together"),
        ("(){1000}" * 10, "repeats something that may be empty"),
    ],
)
def test_what_is_outside_the_language_is_refused_with_the_reason(
    pattern: str, problem: str
) -> None:
    assert pattern_problem(pattern) == problem


# ── what they mean ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("b", ["abc"], ["", "ac"]),
        ("^v1$", ["v1"], ["v1\n", "xv1", "v1x"]),
        ("^$", [""], ["\n", "a"]),
        (r"^\d+$", ["0123456789"], ["\u0663", "\uff11", "²"]),
        (r"^\w+$", ["aZ_9"], ["é", "a-b"]),
        (r"^\s$", ["\u00a0", "\ufeff", "\u3000", "\t"], ["a", "\u200b"]),
        (r"^.$", ["a", "😀", "\x00"], ["\n", "\r", "\u2028", "ab"]),
        ("^[^]$", ["a", "\n"], [""]),
        (r"^[\s\S]{2}$", ["\n😀"], ["a"]),
        ("^[a-c\\-x-]+$", ["abc-x-"], ["d", ""]),
        ("^[^a-c]$", ["d", "😀"], ["a"]),
        ("^(a|bc){2,3}$", ["abc", "bcbcbc", "aaa"], ["a", "aaaa", "bca b"]),
        ("^a{0}b?$", ["", "b"], ["a"]),
        ("^a{2,}$", ["aa", "aaaaa"], ["a", ""]),
        ("^(|,)a|b$", ["a", ",a", "xb"], ["ba "]),
        ("(^|,)a(,|$)", ["a", "x,a,y", "x,a"], ["xa", "ax"]),
        (r"^\x41\u00e9\/\.\t$", ["Aé/.\t"], ["Aé/x\t"]),
        ("^a+?$", ["aaa"], ["b"]),
        ("$a", [], ["a", ""]),
    ],
)
def test_a_pattern_means_what_ecma_says(
    pattern: str, matching: list[str], other: list[str]
) -> None:
    assert [text for text in matching if not found(pattern, text)] == []
    assert [text for text in other if found(pattern, text)] == []


atoms = some.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w", "(?:ab)", "a|b", "", "(a|)"])
pieces = some.recursive(
    atoms,
    lambda inner: (
        some.lists(inner, max_size=3).map("".join)
        | some.tuples(
            inner, some.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}"])
        ).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
        | some.tuples(inner, inner).map("|".join)
    ),
    max_leaves=6,
)
patterns = some.tuples(some.sampled_from(["", "^"]), pieces, some.sampled_from(["", "$"])).map(
    lambda parts: f"{parts[0]}(?:{parts[1]}){parts[2]}"
)


@settings(max_examples=300, deadline=None)
@given(patterns, some.lists(some.text("ab-", max_size=7), min_size=1, max_size=5))
def test_the_matcher_agrees_with_pythons(pattern: str, texts: list[str]) -> None:
    try:
        matcher = Matcher(pattern)
    except BadPattern as bad:
        assert str(bad) == "repeats something that may be empty"
        return
    for text in texts:
        expected = re.search(pattern, text) is not None
        assert matcher.found_in(text, lambda work: None) is expected, (pattern, text)


@settings(max_examples=200, deadline=None)
@given(pieces, some.text("ab", min_size=1, max_size=3))
def test_a_pattern_that_is_taken_never_holds_a_backtracking_matcher(
    pattern: str, word: str
) -> None:
    """Texts on which a run-away pattern would take longer than the suite may."""
    if pattern_problem(f"^(?:{pattern})$") is None:
        re.search(f"^(?:{pattern})$", word * 40 + "!")


@pytest.mark.parametrize(
    "pattern", ["a*b", "^a*b$", r"\S", "a.{0,60}b$", "a[ab]{0,900}c", "(.|a)*"]
)
def test_a_text_of_a_million_characters_is_no_burden(pattern: str) -> None:
    work = 0

    def take(more: int) -> None:
        nonlocal work
        work += more

    Matcher(pattern).found_in("ab" * 500_000, take)
    assert work < 5_000_000
