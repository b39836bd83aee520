"""Put the pieces together and listen. The only module that knows all the others."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import ipaddress
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

import uvicorn
from litestar import Litestar
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from agentworks import log, recovery, web
from agentworks.bells import Bells
from agentworks.contracts.operation import Caller
from agentworks.dispatch import Dispatch
from agentworks.identity import key, people
from agentworks.identity.last_used import LastUsed
from agentworks.migrations import NewerSchema
from agentworks.rules import limits
from agentworks.runners.errands import errands
from agentworks.runners.performing import Setting
from agentworks.runners.sandbox import Wanted
from agentworks.runners.turns import TurnRunner
from agentworks.store import Full, Held, Store
from agentworks.surfaces import health, http, oauth, openapi
from handlers import HANDLERS
from scheduler import clockwork

DATABASE = "agentworks.db"
AGENTS = "agents"  # the folder of all agents' folders
_RECOVERY_SECONDS = 5  # seconds a start waits for what an earlier server left, before it listens
_HEAD_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)
_HEADERS: http.Headers = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]


class App:
    """One server over one data folder: its store, its dispatch and its routes."""

    def __init__(
        self,
        folder: Path,
        base_url: str,
        *,
        synchronous: str = "FULL",
        sandbox: Wanted = "auto",
        allow_root: bool = False,
    ) -> None:
        """`sandbox` is what agent programs must be confined by; as root they need `allow_root`."""
        self.base_url = base_url.rstrip("/")
        self.bells = Bells()
        self.store = Store(
            folder / DATABASE,
            self.bells.ring,
            ring_all=self.bells.ring_all,
            waiting_max=limits.WAITING_WRITES_MAX,
            batch_max=limits.WRITE_BATCH_MAX,
            synchronous=synchronous,
        )
        self.key = key.load(folder)
        self.last_used = LastUsed(self.store)
        agents = (folder / AGENTS).resolve()
        setting = Setting(
            store=self.store,
            root=agents,
            server_url=self.base_url,
            sandbox=sandbox,
            allow_root=allow_root,
        )
        self.turns = TurnRunner(setting, self.bells)
        self.dispatch = Dispatch(
            self.store, self.bells, HANDLERS, used=self._let_in, errands=errands(agents)
        )

    def _let_in(self, caller: Caller) -> None:
        self.last_used.note(caller)
        self.turns.note(caller)

    def litestar(self) -> Litestar:
        """The ASGI application. It owns the scheduler's clock while it runs."""
        handlers: list[Any] = [
            *http.routes(self.dispatch, _HEADERS),
            *oauth.routes(self.store, self.key, self.base_url),
            *web.routes(self.dispatch, self.store, self.base_url),
            *health.routes(self.store, self.bells, _HEADERS),
            *openapi.routes(_HEADERS),
        ]
        return Litestar(
            handlers, lifespan=[self._running], openapi_config=None, logging_config=None
        )

    @asynccontextmanager
    async def _running(self, _: Litestar) -> AsyncIterator[None]:
        beginning = asyncio.create_task(self._begin_turns())
        await asyncio.wait({beginning}, timeout=_RECOVERY_SECONDS)
        if beginning.done():
            beginning.result()
        clock = clockwork(self.store, self.last_used.flush)
        clock.start()
        gc.collect()
        gc.freeze()  # facts/stack §0.3: what lives for ever is not searched again and again
        gc.set_threshold(100_000, 20, 20)
        try:
            yield
        finally:
            clock.shutdown(wait=False)
            beginning.cancel()
            await self.turns.stop()
            await self.last_used.flush()
            self.store.close()

    async def _begin_turns(self) -> None:
        """What an earlier server left is ended and marked before any turn is taken."""
        await recovery.before_turns(self.store, self.turns.end_orphans)
        self.turns.start()


def serve(
    *,
    folder: Path,
    host: str,
    port: int,
    behind_proxy: bool = False,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    allow_root: bool = False,
    settings: dict[str, int] | None = None,
    synchronous: str = "FULL",
) -> None:
    """Serve `folder` until told to stop. Prints one line on stdout once it listens.

    Exits with 2 on settings that make no sense, with 1 when the data cannot be opened.
    """
    log.configure()
    os.umask(0o077)  # what this server writes is for its own account alone
    _refuse_public_bind(host, behind_proxy or tls_cert is not None)
    try:
        limits.change(settings or {})
    except ValueError as wrong:
        _leave(2, str(wrong))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = _lock(folder)
    listening = _listen(host, port)
    scheme = "https" if tls_cert else "http"
    base_url = f"{scheme}://{_shown(host)}:{listening.getsockname()[1]}"
    try:
        app = App(folder, base_url, synchronous=synchronous, allow_root=allow_root)
    except NewerSchema as newer:
        _leave(1, str(newer))
    except (Full, Held, OSError) as cannot:
        _leave(1, f"cannot open the store in {folder}: {type(cannot).__name__} {cannot}")
    _run(app, listening, folder, behind_proxy, tls_cert, tls_key)
    os.close(lock)


def _run(
    app: App,
    listening: socket.socket,
    folder: Path,
    behind_proxy: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    config = uvicorn.Config(
        app.litestar(),
        loop="uvloop",
        http=_Bounded,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=4096,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
        proxy_headers=behind_proxy,
        forwarded_allow_ips="*" if behind_proxy else None,
        ssl_certfile=tls_cert,
        ssl_keyfile=tls_key,
    )
    _Announcing(config, app, folder).run(sockets=[listening])


class _Bounded(HttpToolsProtocol):
    """uvicorn's HTTP. By itself it gathers the head of a request without end."""

    _in_head = True
    _ended = False  # whether what was received last held the end of a request
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        self._ended = False
        super().data_received(data)
        self._head_bytes = self._head_bytes + len(data) if self._in_head and not self._ended else 0
        if self._head_bytes > limits.HEAD_BYTES_MAX and not self.transport.is_closing():
            self.transport.write(_HEAD_TOO_LARGE)
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head = self._ended = True
        super().on_message_complete()


class _Announcing(uvicorn.Server):
    """Says where it listens once it does, and how the first person gets in."""

    def __init__(self, config: uvicorn.Config, app: App, folder: Path) -> None:
        super().__init__(config)
        self._app, self._folder = app, folder

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.started:
            return
        link = await self._first_link()
        print(f"agentworks serves {self._app.base_url} (data: {self._folder})", flush=True)  # noqa: T201
        if link is not None:
            log.say(f"first start: choose your password at {self._app.base_url}/welcome/{link}")

    async def _first_link(self) -> str | None:
        """What may be read can be read on a full disk too: a link can wait for the next start."""
        try:
            return await self._app.store.transact(people.ensure_owner)
        except (Full, Held) as cannot:
            log.say(f"no first-start link could be made: {type(cannot).__name__}")
            return None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._app.turns.stop()  # while what runs can still say its last words
        self._app.bells.close()  # who waits is answered now, and need not be waited for
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as cannot:
        _leave(1, f"cannot listen on {host}:{port}: {cannot}")
    listening.set_inheritable(True)
    return listening


def _lock(folder: Path) -> int:
    """One server per data folder. The lock goes with the process, however it ends."""
    lock = os.open(folder / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _leave(1, f"another server already serves {folder}")
    return lock


def _refuse_public_bind(host: str, protected: bool) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback and not protected:
        _leave(
            2,
            f"{host} is reachable from other machines: pass --tls-cert and --tls-key, or "
            "--behind-proxy if a proxy in front of this server speaks TLS",
        )


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _leave(code: int, why: str) -> NoReturn:
    log.say(why)
    logging.shutdown()
    sys.exit(code)
