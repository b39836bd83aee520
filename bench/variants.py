"""The servers that benches compare, each the product's own pieces put together another way.

`product` is the server with one route more, which does nothing. `threads` answers sends the way
most services would: a sync function per request, on a thread, in a transaction of its own.
`accepting` is the server without its runner of turns: what it accepts it gives up soon after.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from litestar import Litestar, Request, Response, post
from litestar.params import JSONBody

from agentworks import clock
from agentworks.contracts.messages import MessageReceipt, SendMessage
from agentworks.identity import callers
from agentworks.offline import create_connection
from agentworks.rules import limits
from agentworks.server import DATABASE, App
from agentworks.store import Transaction, connect
from bench.serving import RAISED
from handlers.messages import posting

_SLOT_SECONDS = 0.1  # how long a slot is held where nothing is executed


@post("/bench/nothing", status_code=200)
async def nothing(data: JSONBody[SendMessage]) -> MessageReceipt:
    """A typed route that reads a message and answers a receipt, and does nothing between."""
    return MessageReceipt(
        receipt="stored",
        message_id="msg_0",
        inbox_id="inbox_0",
        conversation_id="inbox_0",
        sequence=len(data.message),
        next="nothing",
    )


class Threads:
    """Sync handlers: a connection per thread, one lock, one transaction per request."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._local = threading.local()
        self._lock = threading.Lock()

    def _connection(self) -> Any:
        if not hasattr(self._local, "db"):
            self._local.db = connect(self._database)
        return self._local.db

    def send(self, authorization: str | None, body: SendMessage) -> MessageReceipt:
        db, who = self._connection(), callers.bearer(authorization)
        with self._lock:
            db.execute("BEGIN IMMEDIATE")
            tx = Transaction(db, clock.now(), clock.new_id)
            try:
                receipt = posting.post(tx, who(tx), body)
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")
        return receipt


def threaded(database: str) -> Litestar:
    threads = Threads(database)

    @post("/bench/send", sync_to_thread=True)
    def send(request: Request[Any, Any, Any], data: JSONBody[SendMessage]) -> Response[bytes]:
        receipt = threads.send(request.headers.get("authorization"), data)
        return Response(msgspec.json.encode(receipt), status_code=200)

    return Litestar([send], openapi_config=None, logging_config=None)


def accepting(app: App) -> Litestar:
    """The product, but no turn begins; the slots that calls take are given back in turn."""
    app.turns.start = lambda: None  # type: ignore[method-assign]
    asgi = app.litestar()

    async def give_back() -> None:
        while True:
            await asyncio.sleep(_SLOT_SECONDS)
            await app.store.transact(
                lambda tx: tx.run("UPDATE calls SET holds_slot = 0 WHERE holds_slot = 1")
            )

    running: list[asyncio.Task[None]] = []
    asgi.on_startup.append(lambda: running.append(asyncio.ensure_future(give_back())))
    return asgi


def main() -> None:
    home, variant, synchronous = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    limits.change(RAISED)
    token, reader = (
        create_connection(home, label, None, ["read", "run"], [], None)["token"]
        for label in ("sender", "reader")
    )
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = App(home, f"http://127.0.0.1:{port}", synchronous=synchronous)
    if variant == "threads":
        asgi: Any = threaded(str(home / DATABASE))
    else:
        asgi = accepting(app) if variant == "accepting" else app.litestar()
        asgi.register(nothing)
    print(json.dumps({"port": port, "token": token, "reader": reader}), flush=True)
    config = uvicorn.Config(
        asgi,
        loop="uvloop",
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        timeout_keep_alive=75,
    )
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
