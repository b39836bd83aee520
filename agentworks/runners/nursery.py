"""This server's nursery: the one program it starts itself, which forks a keeper for each program.

It is started from any thread: its end is tied to a socket, not to a thread or an event loop.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import socket
import sys
from pathlib import Path

from agentworks.runners import tree

_ROOT = Path(__file__).resolve().parents[2]  # where the nursery finds `agentworks`
_BOOT = (
    "import sys; sys.path.append(sys.argv[2]); from agentworks.runners import keeper; keeper.main()"
)


class Nursery:
    """The one program this server starts itself; it forks a keeper for each program."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.door.setblocking(False)
        os.set_inheritable(theirs.fileno(), True)
        argv = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT]
        self.pid = os.posix_spawn(
            sys.executable,
            [*argv, str(theirs.fileno()), str(_ROOT)],
            {},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            ],
            setsid=True,
        )
        theirs.close()

    def close(self) -> None:
        """End it and collect it. It has nothing to finish: keepers stand on their own."""
        self.door.close()
        if self.owner == os.getpid():
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self.pid, signal.SIGKILL)  # a program may have stopped it
                os.waitpid(self.pid, 0)


_nursery: Nursery | None = None


def nursery() -> Nursery:
    """This server's nursery. Started at first use; a server calls it once when it starts."""
    global _nursery
    if _nursery is None or _nursery.owner != os.getpid():
        _nursery = Nursery()
    return _nursery


def strays() -> set[int]:
    """What killed keepers left behind: nobody else will end it."""
    return tree.strays(_nursery.pid) if _nursery else set()


def close() -> None:
    """End the nursery: at the end of a server, or because it hangs. The next use starts another.

    Programs that run are ended by their keepers when this process lets go of them.
    """
    global _nursery
    if _nursery is not None:
        _nursery.close()
        _nursery = None


atexit.register(close)


async def hand_over(fds: list[int]) -> None:
    """Give a keeper its descriptors; a nursery that was killed is replaced once."""
    for attempt in range(500):
        try:
            socket.send_fds(nursery().door, [b"+"], fds)
            return
        except BlockingIOError:
            await asyncio.sleep(0.01)  # it is behind with earlier orders
        except OSError:
            if attempt:
                raise
            close()
    raise OSError("too many programs are being started")
