"""Who may call what: the `offered_to` and the scope of every operation."""

from __future__ import annotations

from agentworks.contracts import PROTOCOL
from agentworks.contracts.operation import CallerKind
from docs.printed.markdown import code, table


def who_may_call() -> str:
    """A row per operation, a column per kind of caller that any operation is offered to."""
    kinds = [each for each in CallerKind if any(each in other.offered_to for other in PROTOCOL)]
    rows = [
        (
            f"[{each.name}](reference/{each.name}.md)",
            *("yes" if kind in each.offered_to else "no" for kind in kinds),
            code(each.scope.value) if each.scope else "none needed",
        )
        for each in PROTOCOL
    ]
    return table(("Operation", *(kind.value for kind in kinds), "Scope of a connection"), rows)
