"""What a person sees: server-rendered pages over the same dispatch as every other way in."""

from __future__ import annotations

from litestar import asgi, route
from litestar.enums import HttpMethod
from litestar.handlers import ASGIRouteHandler, HTTPRouteHandler
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from agentworks.dispatch import Dispatch
from agentworks.store import Store
from agentworks.web.headers import SECURITY_HEADERS
from agentworks.web.pages import PLACES
from agentworks.web.shelf import Shelf
from agentworks.web.visits import Site
from agentworks.web.wire import Pages

__all__ = ["SECURITY_HEADERS", "routes"]


def routes(
    dispatch: Dispatch, store: Store, base: str
) -> list[ASGIRouteHandler | HTTPRouteHandler]:
    """All pages, and an HTML 404 for every address that no other route answers.

    `base` is this server's own address, such as `http://127.0.0.1:8420`.
    """
    pages = Pages(Site(dispatch=dispatch, store=store, base=base), Shelf(), PLACES)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await pages(scope, receive, send)

    async def unknown() -> _Passed:
        return _Passed(pages)

    # Mounted: Litestar 2.25 has no path parameters for plain ASGI routes (KeyError, seen), and a
    # mount at "/" would take the addresses of all other mounts.
    first = {f"/{place.path[1:].partition('/')[0]}" for place in PLACES} - {"/"}
    return [
        asgi("/", copy_scope=False)(answer),
        *(
            asgi(path, is_mount=True, name=f"pages{path}", copy_scope=False)(answer)
            for path in sorted({*first, "/static"})
        ),
        route("/{rest:path}", http_method=[*HttpMethod], include_in_schema=False)(unknown),
    ]


class _Passed(ASGIResponse):
    """The answer of a Litestar handler, left to the pages."""

    def __init__(self, pages: Pages) -> None:
        super().__init__()
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._pages(scope, receive, send)
