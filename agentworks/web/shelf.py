"""Templates and static files, read once at start; a static file is served under its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct

from agentworks import __version__
from agentworks.web import words

_TYPES = {"css": b"text/css; charset=utf-8", "svg": b"image/svg+xml"}
_HASH_LENGTH = 12  # characters: told apart, not kept secret


class Static(Struct, frozen=True):
    """A file as it is sent."""

    media_type: bytes
    content: bytes


class Shelf:
    """Everything pages are made of."""

    def __init__(self) -> None:
        self.files: dict[str, Static] = {}
        self._addresses: dict[str, str] = {}
        for file in files("agentworks.web").joinpath("static").iterdir():
            stem, _, kind = file.name.rpartition(".")
            if kind in _TYPES:
                content = file.read_bytes()
                name = f"{stem}.{hashlib.sha256(content).hexdigest()[:_HASH_LENGTH]}.{kind}"
                self.files[name] = Static(_TYPES[kind], content)
                self._addresses[file.name] = f"/static/{name}"
        self._templates = Environment(
            loader=PackageLoader("agentworks.web"),
            autoescape=True,
            auto_reload=False,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {
            "date": words.date,
            "moment": words.moment,
            "instant": words.instant,
            "distance": words.distance,
        }
        self._templates.tests["past"] = words.past
        self._templates.globals |= {"static": self._addresses, "version": __version__}

    def render(self, template: str, values: Mapping[str, Any]) -> bytes:
        """The page as UTF-8. Everything that is put into it is escaped."""
        return self._templates.get_template(template).render(values).encode()
