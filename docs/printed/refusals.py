"""The refusal codes: what each means, and what it becomes on HTTP and on the command line."""

from __future__ import annotations

from typing import Any

from agentworks.contracts import PROTOCOL
from agentworks.contracts.operation import Operation
from agentworks.contracts.refusal import RefusalCode
from agentworks.surfaces.http import STATUS
from cli.render import exit_code
from docs.printed.comments import commented
from docs.printed.markdown import code, plain, table

FEW = 3  # operations that are named as the exceptions
HEADS = ("Code", "Means", "HTTP", "CLI exit", "Operations")


def meanings() -> dict[str, str]:
    """What each code means, from the comment beside it."""
    notes = {each.name: each.comment for each in commented(RefusalCode)}
    return {each.value: notes[each.name] for each in RefusalCode}


def given() -> str:
    """The codes that some operation of this version can answer, in their precedence."""
    return table(HEADS, [row(each) for each in RefusalCode if operations(each)])


def unused() -> str:
    """The codes that no operation of this version gives."""
    return table(HEADS, [row(each) for each in RefusalCode if not operations(each)])


def row(refusal: RefusalCode) -> tuple[str, ...]:
    return (
        code(refusal.value),
        plain(meanings()[refusal.value]),
        str(int(STATUS[refusal])),
        str(int(exit_code({"status": "refused", "code": refusal.value}))),
        said(operations(refusal)),
    )


def operations(refusal: RefusalCode) -> list[Operation[Any, Any]]:
    return [each for each in PROTOCOL if refusal in each.every_refusal]


def said(found: list[Operation[Any, Any]]) -> str:
    """Some operations in as few words as they need."""
    others = [each for each in PROTOCOL if each not in found]
    if not others:
        return "all"
    if found and len(others) <= FEW:
        return f"all but {links(others)}"
    if found == [each for each in PROTOCOL if not each.reads]:
        return "all that write"
    return links(found)


def links(found: list[Operation[Any, Any]]) -> str:
    return ", ".join(f"[{each.name}](reference/{each.name}.md)" for each in found)
