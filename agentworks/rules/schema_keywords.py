"""The keywords that look into a value, or hold it against other schemas, as running checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentworks.rules.conversion import got
from agentworks.rules.schema_checks import (
    EVERY,
    LIST,
    OBJECT,
    Check,
    Keyword,
    Meter,
    Problem,
    but_got,
)
from agentworks.rules.sentences import demand
from agentworks.rules.strict_json import child

# ── members of an array or object ────────────────────────────────────────────────────────────


def items(check: Check, skipped: int) -> Keyword:
    """Every item after the first `skipped`."""

    def fits(value: Any, meter: Meter) -> bool:
        meter.take(len(value))
        rest = value[skipped:] if skipped else value
        return check.fit_by_type(rest) or all(check.fits(each, meter) for each in rest)

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        for index in range(skipped, len(value)):
            if not check.fits(value[index], meter):
                yield from check.tell(value[index], child(at, index), meter)

    return Keyword(LIST, fits, tell)


def prefix_items(checks: list[Check]) -> Keyword:
    """The first items, each by its own schema."""

    def fits(value: Any, meter: Meter) -> bool:
        meter.take(len(checks))
        return all(check.fits(each, meter) for check, each in zip(checks, value, strict=False))

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        for index, (check, each) in enumerate(zip(checks, value, strict=False)):
            yield from check.tell(each, child(at, index), meter)

    return Keyword(LIST, fits, tell)


def contains(check: Check, least: float, most: float | None) -> Keyword:
    """How many items fit: contains, minContains and maxContains together."""

    def count(value: Any, meter: Meter) -> int:
        meter.take(len(value))
        return sum(check.fits(each, meter) for each in value)

    def fits(value: Any, meter: Meter) -> bool:
        found = count(value, meter)
        return found >= least and (most is None or found <= most)

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        few = count(value, meter) < least
        keyword, wanted = ("minContains", least) if few else ("maxContains", most)
        yield at, demand("contains" if few and least == 1 else keyword, wanted)

    return Keyword(LIST, fits, tell)


def properties(checks: dict[str, Check]) -> Keyword:
    """Members by name; one that is absent is no fault here."""

    pairs = list(checks.items())

    def fits(value: Any, meter: Meter) -> bool:
        meter.take(len(pairs))
        for name, check in pairs:
            if name in value and not check.fits(value[name], meter):
                return False
        return True

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        for name, check in pairs:
            if name in value:
                yield from check.tell(value[name], child(at, name), meter)

    return Keyword(OBJECT, fits, tell)


def additional_properties(check: Check, known: frozenset[str]) -> Keyword:
    """Members that `properties` does not name."""

    def fits(value: Any, meter: Meter) -> bool:
        meter.take(len(value))
        for name, each in value.items():
            if name not in known and not check.fits(each, meter):
                return False
        return True

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        for name, each in value.items():
            if name not in known:
                yield from check.tell(each, child(at, name), meter)

    return Keyword(OBJECT, fits, tell)


def property_names(check: Check) -> Keyword:
    """The names themselves, as strings."""

    def fits(value: Any, meter: Meter) -> bool:
        meter.take(len(value))
        return all(check.fits(name, meter) for name in value)

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        for name in value:
            yield from check.tell(name, f"{at}, the name {got(name)}", meter)

    return Keyword(OBJECT, fits, tell)


def required(names: list[str]) -> Keyword:
    """Members that must be there, each told on its own."""

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        return ((at, f"lacks {got(name)}") for name in names if name not in value)

    wanted = frozenset(names)
    return Keyword(OBJECT, lambda value, meter: wanted <= value.keys(), tell)


def dependent_required(names: dict[str, list[str]]) -> Keyword:
    """Names that are required when another is there."""

    def lacking(value: Any) -> Iterator[tuple[str, str]]:
        for name, others in names.items():
            if name in value:
                yield from ((name, other) for other in others if other not in value)

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        for name, other in lacking(value):
            yield at, f"lacks {got(other)}, which {got(name)} needs"

    return Keyword(OBJECT, lambda value, meter: not any(lacking(value)), tell)


# ── other schemas for the same value ─────────────────────────────────────────────────────────


def every(checks: list[Check]) -> Keyword:
    """allOf, and $ref as an allOf of one."""

    def fits(value: Any, meter: Meter) -> bool:
        meter.take(len(checks))
        for check in checks:
            if not check.fits(value, meter):
                return False
        return True

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        for check in checks:
            yield from check.tell(value, at, meter)

    return Keyword(EVERY, fits, tell)


def alternatives(checks: list[Check], most: int) -> Keyword:
    """anyOf, and oneOf with `most` 1. What lies nearest is the alternative that gets deepest."""

    def count(value: Any, meter: Meter) -> int:
        found = 0
        for check in checks:
            meter.take(1)
            found += check.fits(value, meter)
            if found > most or (found and most == len(checks)):
                break
        return found

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        if count(value, meter):
            yield at, but_got("fits more than one of the alternatives", value)
            return
        misses = [next(check.tell(value, at, meter)) for check in checks]
        where, what = max(misses, key=lambda miss: len(miss[0]))
        yield at, f"fits none of the alternatives; nearest is {where}: {what}"

    return Keyword(EVERY, lambda value, meter: 1 <= count(value, meter) <= most, tell)


def negation(check: Check) -> Keyword:
    """not."""

    def fits(value: Any, meter: Meter) -> bool:
        meter.take(1)
        return not check.fits(value, meter)

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        yield at, but_got(demand("not", None), value)

    return Keyword(EVERY, fits, tell)


def condition(if_: Check, then: Check, else_: Check) -> Keyword:
    """if, then and else together."""

    def branch(value: Any, meter: Meter) -> Check:
        meter.take(1)
        return then if if_.fits(value, meter) else else_

    return Keyword(
        EVERY,
        lambda value, meter: branch(value, meter).fits(value, meter),
        lambda value, at, meter: branch(value, meter).tell(value, at, meter),
    )


def dependent_schemas(checks: dict[str, Check]) -> Keyword:
    """Schemas for the whole object that count when a member is there."""

    def fits(value: Any, meter: Meter) -> bool:
        meter.take(len(checks))
        return all(check.fits(value, meter) for name, check in checks.items() if name in value)

    def tell(value: Any, at: str, meter: Meter) -> Iterator[Problem]:
        for name, check in checks.items():
            if name in value:
                yield from check.tell(value, at, meter)

    return Keyword(OBJECT, fits, tell)
