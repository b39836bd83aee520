"""The limits table: every constant of agentworks/rules/limits.py, in its order."""

from __future__ import annotations

from typing import Any

from agentworks.rules import limits
from docs.printed.comments import Commented, commented
from docs.printed.markdown import code, paragraphs, plain, table

SETTINGS = "SETTINGS"  # not a limit: the names of those that may be changed


def tables() -> str:
    """One table per section of the module."""
    sections: dict[str, list[Commented]] = {}
    for each in commented(limits):
        if each.name.isupper() and each.name != SETTINGS:
            sections.setdefault(each.section, []).append(each)
    return paragraphs(*(section(title, rows) for title, rows in sections.items()))


def section(title: str, rows: list[Commented]) -> str:
    name, _, source = title.partition(" (")
    from_where = f"*{source.removesuffix(')')}*" if source else ""
    heads = ("Limit", "Value", "", "Unit and meaning")
    return paragraphs(f"## {name}", from_where, table(heads, map(row, rows)))


def row(each: Commented) -> tuple[str, ...]:
    setting = "setting" if each.name in limits.SETTINGS else ""
    meaning = each.comment.removesuffix("; setting")
    return code(each.name), shown(each.name, getattr(limits, each.name)), setting, plain(meaning)


def shown(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {size(each)}" for key, each in value.items())
    return size(value) if "BYTES" in name else f"{value:,}"


def size(number: int) -> str:
    """Whole KiB, MiB or GiB where it is that large; else the number itself."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= 16 * 1024 and number % unit == 0:
            return f"{number // unit:,} {name}"
    return f"{number:,}"
