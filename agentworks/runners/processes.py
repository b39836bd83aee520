"""Programs of a turn: started, fed, drained, and ended so that nothing of them lives.

Every program has a keeper (`keeper.py`), which is the ancestor of all it starts. When a hostile
program kills or stops its keeper, what remains is found by a marker in its environment instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

from msgspec import Struct, field

from agentworks.runners import nursery, pipes, tree
from agentworks.runners.runtime import Exit, Limits, NotStarted

_START_SECONDS = 15  # seconds a keeper may take to report
_ROUNDS_MAX = 1_000  # times to look for what forks faster than it is found
_KEEPER_SECONDS = 2  # seconds a keeper may take to kill before we do it ourselves


class Order(Struct, frozen=True, kw_only=True):
    """One program to start. `argv` and `env` are complete; no secret belongs in `argv`."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    limits: dict[str, int] = field(default_factory=dict)  # rlimits by name
    landlock: dict[str, Any] | None = None  # {read, write, tcp}
    sandboxed: bool = False  # argv starts with bubblewrap


class _Control(asyncio.Protocol):
    """The line to a keeper: what it reports, as futures."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.keeper = 0  # its pid, once it has said so
        self.started: asyncio.Future[int] = loop.create_future()  # the program's pid
        self.exited: asyncio.Future[Exit | None] = loop.create_future()  # None: keeper lost
        self.transport: asyncio.Transport | None = None
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        *reports, self._held = (self._held + data).split(b"\n")
        for report in reports:
            self._take(json.loads(report))

    def _take(self, report: dict[str, Any]) -> None:
        if "keeper" in report:
            self.keeper = report["keeper"]
        elif "started" in report:
            _settle(self.started, report["started"])
        elif "failed" in report:
            _refuse(self.started, str(report["failed"]))
        else:
            code = os.waitstatus_to_exitcode(report["ended"])
            number = None if code >= 0 else -code
            _settle(
                self.exited,
                Exit(
                    code=code if number is None else None,
                    signal=number,
                    leftovers=tuple(report["leftovers"]),
                ),
            )

    def connection_lost(self, exc: Exception | None) -> None:
        _refuse(self.started, "its keeper ended before it began")
        _settle(self.exited, None)

    def say(self, command: bytes) -> None:
        if command and self.transport and not self.transport.is_closing():
            self.transport.write(command)


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _refuse(future: asyncio.Future[Any], why: str) -> None:
    if not future.done():
        future.set_exception(NotStarted(why))
        future.exception()  # read by whoever waits; nobody does when the start was cancelled


class RunningProgram:
    """One started program. `marker` is a line of its environment that no other turn has."""

    def __init__(self, limits: Limits, marker: bytes, on_life: Callable[[], None]) -> None:
        self.input = pipes.Input()
        self.output = pipes.Output(on_life)
        self.log = pipes.Tail(on_life, limits.output_bytes)
        self.marker = marker
        self._limits = limits
        self._control = _Control()
        self._over: asyncio.Task[Exit] | None = None

    async def start(self, order: Order) -> None:
        """Raises NotStarted, and leaves nothing behind then."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._connect(order)
                await self._control.started
            self._over = asyncio.create_task(self._mourn())
        except TimeoutError:
            nursery.close()  # it, or the keeper, was stopped by a program
            await self._lost()
            raise NotStarted("its keeper does not answer") from None
        except OSError as why:
            self.close()
            raise NotStarted(why.strerror or str(why)) from None
        except NotStarted:
            self.close()
            raise
        except BaseException:  # cancelled: it may be running already
            await self._lost()
            raise

    async def _connect(self, order: Order) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.ExitStack() as theirs:
            # Ours are wrapped at once, so that a failure half-way closes them.
            ours, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            theirs.callback(control.close)
            await loop.create_unix_connection(lambda: self._control, sock=ours)
            stdin = await self._feed()
            theirs.callback(os.close, stdin)
            stdout = await self._drain(self.output)
            theirs.callback(os.close, stdout)
            stderr = await self._drain(self.log)
            theirs.callback(os.close, stderr)
            await nursery.hand_over([stdin, stdout, stderr, control.fileno()])
        body = json.dumps({name: getattr(order, name) for name in order.__struct_fields__}).encode()
        self._control.say(struct.pack("!I", len(body)) + body)

    async def _feed(self) -> int:
        theirs, ours = os.pipe2(os.O_CLOEXEC)
        file = os.fdopen(ours, "wb", 0)
        try:
            await asyncio.get_running_loop().connect_write_pipe(lambda: self.input, file)
        except BaseException:
            os.close(theirs)
            file.close()
            raise
        return theirs

    async def _drain(self, into: asyncio.Protocol) -> int:
        ours, theirs = os.pipe2(os.O_CLOEXEC)
        file = os.fdopen(ours, "rb", 0)
        try:
            await asyncio.get_running_loop().connect_read_pipe(lambda: into, file)
        except BaseException:
            os.close(theirs)
            file.close()
            raise
        return theirs

    # ── what a runtime sees (runtime.Program) ────────────────────────────────────────────

    def lines(self) -> AsyncIterator[str]:
        return pipes.lines(self.output, self._limits.line_bytes)

    def chunks(self) -> AsyncIterator[str]:
        return pipes.chunks(self.output)

    def write(self, text: str) -> bool:
        return self.input.write(text)

    def close_stdin(self) -> None:
        self.input.close()

    def said_last(self, length: int) -> str:
        return self.log.last(length)

    async def ended(self) -> Exit:
        if self._over is None:
            raise NotStarted("it was never started")
        return await asyncio.shield(self._over)

    async def _mourn(self) -> Exit:
        found = await self._control.exited
        if found is None:  # at once: what is left may hold the pipe that a reader waits for
            found = Exit(leftovers=tuple(await end_marked(self.marker)))
        self.input.abort()
        return found

    # ── what the supervisor does to it ───────────────────────────────────────────────────

    async def end(self, linger: float, grace: float) -> Exit:
        """Wait `linger` seconds, SIGTERM to all of it, SIGKILL after `grace` seconds more.

        Returns when nothing of it lives.
        """
        for command, patience in ((b"", linger), (b"t", grace), (b"k", _KEEPER_SECONDS)):
            self._control.say(command)
            with contextlib.suppress(TimeoutError):
                return await asyncio.wait_for(self.ended(), max(patience, 0.001))
        await self._kill_keeper()
        return await self.ended()

    async def _kill_keeper(self) -> None:
        """For a keeper that a program has stopped: do its work, then end it too."""
        if self._control.keeper:
            for _ in range(_ROUNDS_MAX):
                if not tree.end_children(self._control.keeper):
                    break
                await asyncio.sleep(0)
            tree.send({self._control.keeper}, signal.SIGKILL)

    async def drained(self, seconds: float) -> None:
        """Wait for the end of both pipes, no longer than `seconds`, then close them."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.output.ended.wait()
                await self.log.ended.wait()
        self.close()

    def close(self) -> None:
        """Let go of it. Its keeper ends whatever of it still lives."""
        self.output.close()
        self.log.close()
        self.input.abort()
        if self._control.transport:
            self._control.transport.close()

    async def _lost(self) -> None:
        await self._kill_keeper()
        self.close()
        await end_marked(self.marker)


def marked(marker: bytes) -> set[int]:
    """Processes with an environment line that begins with `marker`, and strays of no keeper."""
    found = nursery.strays()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if b"\0" + marker in b"\0" + file.read():
                    found.add(int(name))
    return found - {os.getpid()}


async def end_marked(marker: bytes) -> list[str]:
    """Kill what bears the marker until nothing does; names it. Also for orphans at start-up."""
    names: dict[int, str] = {}
    pause = 0.01
    while found := marked(marker):
        names |= {pid: f"{tree.name_of(pid)} ({pid})" for pid in found if pid not in names}
        tree.send(found, signal.SIGKILL)
        for _ in range(_ROUNDS_MAX):  # what they had forked comes to the nursery now
            stray = nursery.strays()
            tree.send(stray, signal.SIGKILL)
            if not stray:
                break
        await asyncio.sleep(pause)
        pause = min(pause * 2, 1.0)
    return list(names.values())
