"""Constants with the sections and comments that stand beside them in the source."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from types import ModuleType

from msgspec import Struct

_SECTION = re.compile(r"# ── (.+?) ──+$")


class Commented(Struct, frozen=True):
    """One assignment: the section it stands in, its name, and the comment on its first line."""

    section: str
    name: str
    comment: str


def commented(source: ModuleType | type) -> list[Commented]:
    """The assignments of a module's top level or of a class body, in reading order."""
    text = inspect.getsource(source)
    notes = comments(text)
    tree = ast.parse(text)
    body = tree.body
    if isinstance(source, type):
        assert isinstance(body[0], ast.ClassDef)
        body = body[0].body
    sections = {line: found[1] for line, note in notes.items() if (found := _SECTION.match(note))}
    made = []
    for node in body:
        above = [line for line in sections if line < node.lineno]
        section = sections[max(above)] if above else ""
        note = notes.get(node.lineno, "").removeprefix("#").strip()
        made += [Commented(section, name, note) for name in names(node)]
    return made


def names(node: ast.stmt) -> list[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def comments(text: str) -> dict[int, str]:
    """Every comment by its line."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {each.start[0]: each.string for each in tokens if each.type == tokenize.COMMENT}
