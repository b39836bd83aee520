"""No test is passed over in silence: a skip is printed loudly, and fails wherever CI is set.

A pytest plugin. An expected failure counts as a skip: it is a check that was not made.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

Report = pytest.TestReport | pytest.CollectReport


def skips_fail() -> bool:
    """Whether this run is one in which nothing may be skipped."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false", "no")


def why(report: Report) -> str:
    """The reason a test gave for not being run."""
    reason = getattr(report, "wasxfail", None)
    if reason is None and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
    return str(reason or report.longrepr or "no reason given")


def judged(report: Report) -> None:
    if report.outcome == "skipped" and skips_fail():
        report.longrepr = f"nothing may be skipped here: {why(report)}"
        report.outcome = "failed"
        report.__dict__.pop("wasxfail", None)  # pytest would not count it as failed


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    judged(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    judged(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed_over = [
        report
        for outcome in ("skipped", "xfailed")
        for report in terminalreporter.stats.get(outcome, [])
    ]
    if passed_over:
        terminalreporter.section(f"{len(passed_over)} NOT RUN", sep="!", red=True, bold=True)
        for report in passed_over:
            terminalreporter.write_line(f"{report.nodeid}: {why(report)}", red=True)
