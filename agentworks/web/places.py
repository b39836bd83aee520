"""An address of the pages: what it shows, and what its buttons do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct, field

from agentworks.web.forms import Form
from agentworks.web.visits import Elsewhere, Page, Visit

PageFunction = Callable[[Visit], Awaitable[Page | Elsewhere]]

#: Fields of every form: whose it is, and which button was pressed.
CSRF, ACT = "csrf", "act"


class Act(Struct, frozen=True):
    """What a button does; the fields its form may have, and its choices of several."""

    perform: PageFunction
    fields: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    def takes(self, form: Form) -> bool:
        return form.fields.keys() <= {CSRF, ACT, *self.fields} and form.choices.keys() <= {
            *self.choices
        }


class Place(Struct, frozen=True):
    """`{name}` in a path is one part of any text. `open`: also to people not signed in."""

    path: str
    show: PageFunction
    acts: dict[str, Act] = field(default_factory=dict)
    open: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        return ("GET", "HEAD", "POST") if self.acts else ("GET", "HEAD")

    def params(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        """What stands for the names in the path; None if this is another address."""
        parts = self.path[1:].split("/")
        if len(parts) != len(segments):
            return None
        found = {}
        for part, segment in zip(parts, segments, strict=True):
            if part.startswith("{"):
                found[part[1:-1]] = segment
            elif part != segment:
                return None
        return found if all(found.values()) else None


def find(
    places: Iterable[Place], segments: tuple[str, ...] | None
) -> tuple[Place, dict[str, str]] | None:
    """The first place at an address, with what its names stand for."""
    for place in places:
        params = None if segments is None else place.params(segments)
        if params is not None:
            return place, params
    return None
