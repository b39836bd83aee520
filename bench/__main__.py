"""`make bench`: measure each ratio, print one table, fail if a bound is missed."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable

from bench import accepts, pages, sends, starting, waiting
from bench.bounds import HEADING, Ratio
from bench.serving import RAISED

BENCHES: dict[str, Callable[[], list[Ratio]]] = {
    "sends": sends.against_nothing,
    "full": sends.full_against_off,
    "threads": sends.group_commit_against_threads,
    "batches": sends.batches,
    "waiting": waiting.woken,
    "pages": pages.flat,
    "starting": starting.command_line,
    "accepts": accepts.against_sends,
    "calls": accepts.listing,
}


def main(chosen: list[str]) -> int:
    unknown = [each for each in chosen if each not in BENCHES]
    if unknown:
        print(f"no bench {', '.join(unknown)}; there are: {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    print(f"Python {platform.python_version()}, {platform.machine()}, {platform.system()}.")
    print("Limits raised for the load: " + ", ".join(f"{k}={v:,}" for k, v in RAISED.items()))
    print(f"\n{HEADING}", flush=True)
    missed = 0
    for name in chosen or BENCHES:
        for ratio in BENCHES[name]():
            print(ratio.line(), flush=True)
            missed += not ratio.holds
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
