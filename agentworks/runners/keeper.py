"""The keeper: a small program that starts one agent program and leaves nothing of it alive.

The server starts one *nursery* (this module as a program). For each agent program the nursery
forks a *keeper*, which is the ancestor of everything the program starts: it is their subreaper, so
what is left by a double fork or `setsid` comes back to it. It ends them all when the program ends,
when it is told to, and when the server is gone (its end of the control socket closes). Unlike
PR_SET_PDEATHSIG in the server, this does not follow the thread that happened to spawn it
(facts: relay_functions.md §2.2). A fork of the nursery costs 1 ms, a fresh Python 11 ms or more.

Standard library only, and no secret in any argument: an order arrives on the control socket.

    order     4 bytes of length, then JSON {argv, env, cwd, limits, landlock, sandboxed}
    commands  one byte each: t (SIGTERM to all of it), k (SIGKILL to all of it)
    reports   JSON lines {"keeper": pid}, then {"failed": why}, or {"started": pid} and
              {"ended": wait status, "leftovers": [name]}
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from agentworks.runners import landlock, tree

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LEFTOVERS_MAX = 20  # names in a report
_COLLECTED_AT_ONCE = 1_000  # dead children between two looks at what the server says
_LOOK_SECONDS = 0.02  # seconds between looks at what was killed and is not dead yet
FDS_PER_ORDER = 4  # stdin, stdout, stderr, control
# Python ignores SIGPIPE and we catch the others; a program expects them as they were born.
_RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


class Keeper:
    """One program's keeper. `control` is the server's line to it."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.program = 0
        self.status: int | None = None
        self.sandboxed = False
        self.ending = False
        self.leftovers: dict[int, str] = {}

    def keep(self, standard: list[int]) -> None:
        """Start what the order says, then stay until nothing of it lives."""
        os.setsid()
        landlock.prctl(_PR_SET_CHILD_SUBREAPER, 1)
        bell, ringer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ringer, warn_on_full_buffer=False)
        self.report(keeper=os.getpid())  # first: a program may stop us before we say more
        order = self.order()
        if order is None or not self.start(order, standard):
            return
        for fd in standard:
            os.close(fd)
        self.report(started=self.program)
        while not self.collected():
            living = self.ending and self.end_all()
            self.wait(bell, 0 if living else _LOOK_SECONDS if self.ending else None)
        self.report(ended=self.status, leftovers=self.left())

    def order(self) -> dict[str, Any] | None:
        """The server's order; None when it hung up first."""
        length = self.exactly(4)
        body = self.exactly(struct.unpack("!I", length)[0]) if length else b""
        return json.loads(body) if body else None

    def exactly(self, count: int) -> bytes:
        held = bytearray()
        while len(held) < count:
            chunk = self.control.recv(count - len(held))
            if not chunk:
                return b""
            held += chunk
        return bytes(held)

    def report(self, **said: Any) -> None:
        with contextlib.suppress(OSError):  # the server is gone; nobody needs to know
            self.control.sendall(json.dumps(said).encode() + b"\n")

    def start(self, order: dict[str, Any], standard: list[int]) -> bool:
        self.sandboxed = order["sandboxed"]
        reader, writer = os.pipe2(os.O_CLOEXEC)
        try:
            self.program = os.fork()
        except OSError as why:
            self.report(failed=why.strerror)
            return False
        if not self.program:
            become(order, standard, writer)
        os.close(writer)
        with open(reader, "rb") as told:
            failed = told.read().decode("utf-8", "replace")  # empty once the exec succeeded
        if failed:
            os.waitpid(self.program, 0)
            self.report(failed=failed)
        return not failed

    def wait(self, bell: int, seconds: float | None) -> None:
        """Until a child ends or the server says something; then do it."""
        watched: list[Any] = [bell] if self.control.fileno() < 0 else [bell, self.control]
        ready, _, _ = select.select(watched, [], [], seconds)
        if bell in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(bell, 4096)
        if self.control in ready:
            try:
                self.obey(self.control.recv(16))
            except ConnectionError:
                self.obey(b"")

    def obey(self, commands: bytes) -> None:
        if not commands:  # the server is gone
            self.control.close()
        if not commands or b"k" in commands:
            self.ending = True
        elif b"t" in commands:
            # bubblewrap's own process would die of it and take the program along, ungraced.
            spared = {self.program} if self.sandboxed else set()
            tree.send(tree.descendants(os.getpid()) - spared, signal.SIGTERM)

    def collected(self) -> bool:
        """Take leave of what has ended; true when that was all. The program's end ends the rest."""
        for _ in range(_COLLECTED_AT_ONCE):
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == self.program:
                self.status = status
                self.ending = True
            elif not pid:
                break
        return False

    def end_all(self) -> bool:
        """Kill once around; true when there was something to kill."""
        living = tree.end_children(os.getpid())
        for pid, name in living.items():
            if pid != self.program:
                self.leftovers.setdefault(pid, name)
        return bool(living)

    def left(self) -> list[str]:
        """What outlived the program, such as `sleep (4711)`."""
        return [f"{name} ({pid})" for pid, name in self.leftovers.items()][:_LEFTOVERS_MAX]


def become(order: dict[str, Any], standard: list[int], told: int) -> NoReturn:
    """In the forked child: put on the program's limits and bounds, and turn into it."""
    doing = "its limits"
    try:
        os.setsid()
        landlock.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for number in _RESET:
            signal.signal(number, signal.SIG_DFL)
        for target, fd in enumerate(standard):
            os.dup2(fd, target)
        os.umask(0o077)
        for name, most in order["limits"].items():
            limit(name, most)
        doing = order["cwd"]
        os.chdir(order["cwd"])
        bounds = order["landlock"]
        if bounds:
            doing = "its sandbox"
            landlock.restrict(bounds["read"], bounds["write"], tcp=bounds["tcp"])
        doing = order["argv"][0]
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except (OSError, ValueError) as why:
        said = getattr(why, "strerror", None) or str(why)
        os.write(told, f"{doing}: {said}".encode("utf-8", "replace")[:2000])
    finally:
        os._exit(127)


def limit(name: str, most: int) -> None:
    """Lower one rlimit, never above what this server may use itself."""
    which = getattr(resource, f"RLIMIT_{name}")
    _, hard = resource.getrlimit(which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))


def orders(door: socket.socket) -> Iterator[list[int]]:
    """The descriptors of each program to start, until the server is gone."""
    while True:
        message, fds, _, _ = socket.recv_fds(door, 1, FDS_PER_ORDER)
        if not message:
            return
        for fd in fds:
            os.set_inheritable(fd, False)  # recv_fds ignores the flag that would do it
        yield fds


def main() -> None:
    """The nursery: one keeper per order, until the server's end of the door closes."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are collected by the kernel
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # we end when the server does, not before
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # so that a fork shares this memory for as long as it lives
    gc.freeze()
    landlock.prctl(_PR_SET_CHILD_SUBREAPER, 1)  # what a killed keeper kept comes to us
    door = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(door.fileno(), False)
    os.closerange(3, door.fileno())  # whatever else the server left open is not for programs
    os.closerange(door.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
    for fds in orders(door):
        control = socket.socket(fileno=fds[-1])
        try:
            child = os.fork()
        except OSError as why:
            child = -1
            with contextlib.suppress(OSError):
                control.sendall(json.dumps({"failed": why.strerror}).encode() + b"\n")
        if child == 0:
            try:
                door.close()
                Keeper(control).keep(fds[:-1])
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(0)
        control.close()
        for fd in fds[:-1]:
            os.close(fd)


if __name__ == "__main__":
    main()
