"""Prints how the goldens differ from the last commit, operation by operation."""

from __future__ import annotations

import difflib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests import git

GOLDEN = "fixtures/golden"


def operation_of(path: str, *texts: str) -> str:
    """The operation whose exchange a golden holds; else the test module it belongs to."""
    for text in texts:
        found: Any = json.loads(text) if text.strip() else None
        if isinstance(found, list) and found:
            found = found[0]
        match found:
            case {"call": {"operation": str(operation)}}:
                return operation
    return Path(path).parent.name


def differences(root: Path) -> dict[str, list[str]]:
    """Unified diffs by operation, of the files under `root` against its last commit."""
    since = git.commit(root, "HEAD") or git.NOTHING
    found = defaultdict(list)
    for path in git.changed(root, since, GOLDEN):
        before = git.git(root, "show", f"{since}:{path}") or ""
        after = (root / path).read_text("utf-8") if (root / path).exists() else ""
        lines = difflib.unified_diff(
            before.splitlines(), after.splitlines(), f"before/{path}", f"after/{path}", lineterm=""
        )
        found[operation_of(path, after, before)].append("\n".join(lines))
    return dict(sorted(found.items()))


if __name__ == "__main__":
    changes = differences(Path(__file__).parent.parent)
    for operation, diffs in changes.items():
        print(f"\n── {operation}: {len(diffs)} ──", *diffs, sep="\n")
    print(f"\n{sum(map(len, changes.values()))} goldens differ from the last commit")
