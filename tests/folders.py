"""A workspace as a person keeps it in git: two agents and what else lies beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

REVIEWER = """\
name = "PR Reviewer"  # the one and only
about = "Reviews pull requests."

[runtime]
name = "command"
argv = ["./review.py"]

[[functions]]
name = "review_pr"
inputs = [
  { name = "PR_NUMBER", type = "integer", required = true },
  { name = "GROUP", type = "string", enum = ["staging", "prod"] },
]
"""


@pytest.fixture(name="folder")
def a_folder(tmp_path: Path) -> Path:
    """A workspace with one Crew and one code agent."""
    made = tmp_path / "workspace"
    put(made / "crews/pr-reviewer/crew.toml", REVIEWER)
    put(made / "crews/pr-reviewer/review.py", "#!/usr/bin/env python3\nprint('fine')\n")
    put(made / "crews/pr-reviewer/knowledge/style.md", "Be kind.\n")
    put(made / "code/desk/code.toml", 'name = "Desk"\n')
    put(made / "README.md", "not an agent")
    put(made / ".git/HEAD", "ref")
    return made


def put(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
