"""Whether this server is well: for load balancers, scripts and `agentworks doctor`."""

from __future__ import annotations

import os

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send
from msgspec import Struct

from agentworks import __version__, migrations
from agentworks.bells import Bells
from agentworks.store import Store
from agentworks.surfaces import http
from agentworks.tables import stores


class Health(Struct, frozen=True, kw_only=True, tag_field="status", tag="ok"):
    """Sizes are bytes. No secret and nothing of anyone's is in it."""

    version: str
    schema: int
    epoch: int
    waiting_readers: int
    waiting_writes: int
    database_bytes: int
    wal_bytes: int


def routes(store: Store, bells: Bells, headers: http.Headers) -> list[ASGIRouteHandler]:
    async def health(scope: Scope, receive: Receive, send: Send) -> None:
        epoch, _ = store.read(stores.epoch)
        answer = Health(
            version=__version__,
            schema=migrations.VERSION,
            epoch=epoch,
            waiting_readers=bells.waiters,
            waiting_writes=store.waiting,
            database_bytes=size(store.path),
            wal_bytes=size(f"{store.path}-wal"),
        )
        await http.respond(send, answer, headers)

    return [asgi("/health", copy_scope=False)(health)]


def size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
