"""A function in one line, and in as many as a caller needs: what teaches how to call it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from agentworks.contracts.refusal import FunctionHelp, Input
from agentworks.rules.conversion import bare, items_of

_WORDS = {"integer": "int", "string": "str", "boolean": "bool", "number": "float"}
_CHOICES_SHOWN_MAX = 6  # enum values in a signature
_CHOICES_LENGTH_MAX = 60  # characters all of them may take together


def help_for(name: str, inputs: Sequence[Input]) -> FunctionHelp:
    """Everything a caller needs in order to call the function `name` correctly."""
    return FunctionHelp(signature=signature(name, inputs), inputs=list(inputs))


def signature(name: str, inputs: Sequence[Input]) -> str:
    """`review_pr(PR_NUMBER: int, GROUP?: staging|prod)`: what a caller must or may pass.

    Inputs with a default are left out; `?` marks what may be left out ([S4] "Signatures").
    """
    shown = [
        f"{each.name}{'' if each.required else '?'}: {kind(each)}"
        for each in inputs
        if each.default is UNSET
    ]
    return f"{name}({', '.join(shown)})"


def kind(declared: Input) -> str:
    """What a value may be, in a word: int, str[], staging|prod, float|null."""
    if declared.enum is not None:
        word = _choices(declared)
    elif declared.type == "array" and declared.items is not None:
        item = kind(items_of(declared))
        word = f"({item})[]" if "|" in item else f"{item}[]"
    else:
        word = _WORDS.get(declared.type, declared.type)
    return f"{word}|null" if declared.nullable else word


def _choices(declared: Input) -> str:
    """As many choices as fit a glance, at least one; the rest is counted."""
    every = declared.enum or []
    shown: list[str] = []
    for each in every[:_CHOICES_SHOWN_MAX]:
        word = bare(each)
        if shown and len("|".join(shown)) + len(word) > _CHOICES_LENGTH_MAX:
            break
        shown.append(word)
    more = len(every) - len(shown)
    return "|".join([*shown, f"+{more} more"] if more else shown)
