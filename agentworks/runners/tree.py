"""Which processes descend from which, read from /proc, and how to end them all.

Standard library only: the keeper uses it as well as the server.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable


def parents() -> dict[int, int]:
    """Every process of this machine that we can see, and its parent."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                found[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    return found


def children(pid: int) -> list[int]:
    """The children of a process of one thread, dead ones too; fast enough to catch a runner."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(child) for child in file.read().split()]
    except OSError:  # a kernel without that file
        return [child for child, parent in parents().items() if parent == pid]


def descendants(root: int) -> set[int]:
    """All processes below `root`, without it."""
    below: dict[int, list[int]] = {}
    for pid, parent in parents().items():
        below.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        fresh = [pid for pid in below.get(waiting.pop(), ()) if pid not in found]
        found.update(fresh)
        waiting += fresh
    return found


def name_of(pid: int) -> str:
    """The short name of a process, as `ps` shows it; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/comm", "rb") as file:
            return file.read().strip().decode("utf-8", "replace")
    except OSError:
        return ""


def command_of(pid: int) -> bytes:
    """A process's command line; empty for what is gone or dead."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def strays(nursery: int) -> set[int]:
    """What a killed keeper kept: children of the nursery that are not its own forks."""
    ours = command_of(nursery)
    return {pid for pid in children(nursery) if command_of(pid) not in (ours, b"")}


def send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_children(pid: int) -> dict[int, str]:
    """Kill the children of `pid` that live; names them.

    Where `pid` is a subreaper their own children are its children next: to repeat this ends
    everything, and faster than it can fork, since nothing has to be searched for.
    """
    living = {child: name_of(child) for child in children(pid) if command_of(child)}
    send(living, signal.SIGKILL)
    return living
