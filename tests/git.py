"""What git knows about this checkout, for the checks that compare it with an earlier state."""

from __future__ import annotations

import subprocess
from pathlib import Path

# The tree of no files, which every git knows: what a first commit is compared with.
NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def git(root: Path, *arguments: str) -> str | None:
    """What git prints, or None when it says no."""
    ran = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    return ran.stdout.decode("utf-8", "replace") if ran.returncode == 0 else None


def commit(root: Path, name: str) -> str | None:
    found = git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return found.strip() if found else None


def changed(root: Path, since: str, *paths: str) -> list[str]:
    """The paths whose files here differ from those of `since`, new and removed ones included."""
    known = git(root, "diff", "--name-only", "-z", "--no-renames", since, "--", *paths) or ""
    new = git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *paths) or ""
    return sorted({path for path in (known + new).split("\0") if path})


def base(root: Path, *paths: str) -> str | None:
    """What this work should be compared with; None outside a git checkout.

    On a branch, where it left the main line. On the main line itself, the last commit while
    `paths` hold uncommitted changes, else the one before; for a first commit, nothing at all.
    """
    if git(root, "rev-parse", "--git-dir") is None:
        return None
    head = commit(root, "HEAD")
    if head is None:
        return NOTHING
    for line in ("origin/HEAD", "origin/main", "origin/master", "main", "master"):
        if commit(root, line):
            parted = (git(root, "merge-base", "HEAD", line) or "").strip()
            if parted and parted != head:
                return parted
            break
    if git(root, "status", "--porcelain", "--", *paths):
        return head
    return commit(root, "HEAD~1") or NOTHING
