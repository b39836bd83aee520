"""What a bench says: a measured ratio, the bound it must hold, and how it was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """`value` must be at least (or at most) `bound`. `how` names both sides with their figures."""

    what: str
    value: float
    bound: float
    at_least: bool
    how: str
    unit: str = ""

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def line(self) -> str:
        sign = "≥" if self.at_least else "≤"
        mark = "holds" if self.holds else "MISSED"
        return (
            f"| {self.what} | {self.value:.2f}{self.unit} | {sign} {self.bound:g}{self.unit} "
            f"| {mark} | {self.how} |"
        )


HEADING = "| What | Measured | Bound | | How |\n|---|---|---|---|---|"


def at_least(what: str, value: float, bound: float, how: str, unit: str = "") -> Ratio:
    return Ratio(what, value, bound, True, how, unit)


def at_most(what: str, value: float, bound: float, how: str, unit: str = "") -> Ratio:
    return Ratio(what, value, bound, False, how, unit)
