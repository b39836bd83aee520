"""Whether a value is so large that judging it would hold up everybody else."""

from __future__ import annotations

from typing import Any

HEAVY_UNITS = 20_000  # more values than this, or 64 characters of text each, are heavy


def heavy(value: Any, units: int = HEAVY_UNITS) -> bool:
    """True when `value`, which strict_json has read, holds more than so many units.

    A value is one unit, and so is each 64 characters of text. Stops counting at the bound.
    """
    waiting = [value]
    while waiting:
        each = waiting.pop()
        units -= 1
        if isinstance(each, str):
            units -= len(each) >> 6
        elif isinstance(each, dict | list):
            if len(each) + len(waiting) > units:
                return True
            waiting += each.values() if isinstance(each, dict) else each
        if units < 0:
            return True
    return False
