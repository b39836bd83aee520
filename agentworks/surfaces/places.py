"""Find what answers at an address, as the operations declare it: `GET /api/messages/{id}`.

Litestar's plain routes take no names in the path (a request to one ends in a KeyError), and its
decoded paths hide what `%2F` and `%FF` were; so the surface has one mount, and looks here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from agentworks.contracts.operation import Operation

Methods = dict[str, Operation[Any, Any]]


class Place(NamedTuple):
    """The operations at one address by method, and the values of the names in its path."""

    methods: Methods
    given: dict[str, str]

    @property
    def allow(self) -> str:
        """For the Allow header (RFC 9110 §10.2.1): whatever answers GET answers HEAD."""
        return ", ".join([*self.methods, *(["HEAD"] if "GET" in self.methods else [])])

    def operation(self, method: str) -> Operation[Any, Any] | None:
        return self.methods.get("GET" if method == "HEAD" else method)


class Places:
    """Every address of a protocol."""

    def __init__(self, protocol: Iterable[Operation[Any, Any]]) -> None:
        self._fixed: dict[str, Methods] = {}
        self._named: dict[tuple[str, ...], Methods] = {}
        for operation in protocol:
            if operation.http:
                method, path = operation.http.split()
                if "{" in path:
                    self._named.setdefault(tuple(path.split("/")), {})[method] = operation
                else:
                    self._fixed.setdefault(path, {})[method] = operation

    def at(self, raw_path: bytes) -> Place | None:
        """The place at a path as it was sent, a slash at its end or not; None if there is none."""
        path = raw_path.removesuffix(b"/").decode("latin-1")
        if path in self._fixed:
            return Place(self._fixed[path], {})
        try:
            sent = [unquote_to_bytes(part).decode() for part in path.split("/")]
        except UnicodeDecodeError:
            return None
        for parts, methods in self._named.items():
            given = matched(parts, sent)
            if given is not None:
                return Place(methods, given)
        return None


def matched(parts: tuple[str, ...], sent: list[str]) -> dict[str, str] | None:
    """The values of `{names}` where the other parts are equal, or None."""
    if len(parts) != len(sent):
        return None
    given = {}
    for part, value in zip(parts, sent, strict=True):
        if part.startswith("{"):
            given[part.strip("{}")] = value
        elif part != value:
            return None
    return given
