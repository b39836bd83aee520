"""The checks themselves: each says yes to what is right and no to what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import check_changelog, git, golden_diff
from tests.source import ROOT

GOLDEN, CHANGELOG = "fixtures/golden/test_x/test_y.json", "CHANGELOG.md"
EXCHANGE = '{"call": {"operation": "messages.send"}, "answer": {"status": "%s"}}\n'


class Checkout:
    """A small repository in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> None:
        named = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        assert git.git(self.root, *named, *arguments) is not None, arguments

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=x")

    @property
    def complaint(self) -> str:
        return check_changelog.complaint(self.root)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """One commit: a golden and a changelog."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    fresh = Checkout(tmp_path)
    fresh.write(GOLDEN, EXCHANGE % "accepted")
    fresh.write(CHANGELOG, "- one\n")
    fresh.commit()
    return fresh


def test_a_first_commit_needs_a_changelog_beside_its_goldens(checkout: Checkout) -> None:
    assert checkout.complaint == ""
    checkout.git("rm", "--quiet", CHANGELOG)
    checkout.git("commit", "--quiet", "--amend", "--message=x")
    assert "1 goldens changed" in checkout.complaint


def test_a_changed_golden_needs_a_changelog_line(checkout: Checkout) -> None:
    checkout.write(GOLDEN, EXCHANGE % "refused")
    assert "1 goldens changed" in checkout.complaint
    checkout.commit()
    assert "1 goldens changed" in checkout.complaint
    checkout.write(CHANGELOG, "- one\n- two\n")
    checkout.commit()
    assert checkout.complaint == ""


def test_a_new_and_a_removed_golden_are_changes(checkout: Checkout) -> None:
    checkout.commit()
    assert checkout.complaint == ""
    checkout.write("fixtures/golden/test_x/test_z.json", "{}\n")
    assert "test_z.json" in checkout.complaint
    (checkout.root / GOLDEN).unlink()
    assert "2 goldens changed" in checkout.complaint


def test_a_branch_is_compared_with_where_it_left_the_main_line(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "--create", "work")
    checkout.write(GOLDEN, EXCHANGE % "refused")
    checkout.commit()
    checkout.commit()
    assert "1 goldens changed" in checkout.complaint
    checkout.write(CHANGELOG, "- two\n")
    checkout.commit()
    assert checkout.complaint == ""


def test_outside_git_there_is_nothing_to_compare_and_ci_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv("CI", raising=False)
    assert check_changelog.complaint(tmp_path) == ""
    monkeypatch.setenv("CI", "true")
    assert "no git checkout" in check_changelog.complaint(tmp_path)


def test_golden_differences_are_shown_by_operation(checkout: Checkout) -> None:
    checkout.write(GOLDEN, EXCHANGE % "refused")
    checkout.write("fixtures/golden/test_x/test_z.json", '["a list of its own"]\n')
    changes = golden_diff.differences(checkout.root)
    assert list(changes) == ["messages.send", "test_x"]
    assert "+" + (EXCHANGE % "refused").strip() in changes["messages.send"][0]


SKIPPING = {
    "call": "import pytest\n\ndef test_x():\n    pytest.skip('no browser')\n",
    "mark": "import pytest\n\n@pytest.mark.skip('no browser')\ndef test_x():\n    pass\n",
    "module": "import pytest\n\npytest.skip('no browser', allow_module_level=True)\n",
    "xfail": "import pytest\n\n@pytest.mark.xfail(reason='no browser')\n"
    "def test_x():\n    raise OSError\n",
    "nothing": "def test_x():\n    pass\n",
}


@pytest.mark.parametrize(
    ("ci", "code", "closing"),
    [("", 0, "1 passed, 3 skipped, 1 xfailed"), ("true", 1, "2 failed, 1 passed, 2 errors")],
    ids=["by hand", "in ci"],
)
def test_a_skip_is_loud_and_fails_in_ci(ci: str, code: int, closing: str, tmp_path: Path) -> None:
    for kind, text in SKIPPING.items():
        (tmp_path / f"test_{kind}.py").write_text(text)
    alone = {"CI": ci, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.strict", "--continue-on-collection-errors"],
        cwd=tmp_path,
        env={**os.environ, **alone},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, closing in ran.stdout) == (code, True), ran.stdout + ran.stderr
    assert ran.stdout.count("no browser") >= 4
    assert ("4 NOT RUN" in ran.stdout) is (ci == "")
