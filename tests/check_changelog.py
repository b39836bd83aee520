"""Fails when goldens changed and the changelog did not: a caller would not be told."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests import git

GOLDEN, CHANGELOG = "fixtures/golden", "CHANGELOG.md"


def complaint(root: Path) -> str:
    """What is wrong in the checkout at `root`, or ""."""
    since = git.base(root, GOLDEN, CHANGELOG)
    if since is None:
        return "this is no git checkout: nothing to compare with" if os.environ.get("CI") else ""
    goldens = git.changed(root, since, GOLDEN)
    if not goldens or git.changed(root, since, CHANGELOG):
        return ""
    shown = "".join(f"\n  {path}" for path in goldens[:20])
    return f"{len(goldens)} goldens changed since {since[:12]} and {CHANGELOG} did not:{shown}"


if __name__ == "__main__":
    sys.exit(complaint(Path(__file__).parent.parent) or 0)
