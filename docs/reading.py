"""The Markdown pages of the repository as the checks read them: blocks, links and commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).parent.parent

_FENCED = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_ENDING = "();<>|&\n"  # what ends the words of a command in a shell


class Block(NamedTuple):
    """A fenced block: the page it is on, its kind, and its text."""

    path: Path
    kind: str
    text: str


class Link(NamedTuple):
    """A link to something in this repository: the page it is on, its text, and where it leads."""

    path: Path
    written: str
    aim: Path
    anchor: str


def pages() -> list[Path]:
    """Every Markdown file of the repository."""
    return sorted(path for path in ROOT.rglob("*.md") if not _hidden(path))


def _hidden(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return parts[0] in ("build", "dist") or any(part.startswith(".") for part in parts)


def where(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(path: Path) -> list[Block]:
    return blocks_in(path.read_text("utf-8"), path)


def blocks_in(text: str, path: Path) -> list[Block]:
    return [Block(path, kind, inner) for _, kind, inner in _FENCED.findall(text)]


def prose(path: Path) -> str:
    """The page without its blocks."""
    return _FENCED.sub("", path.read_text("utf-8"))


def links(path: Path) -> list[Link]:
    """The links that lead to a file or a heading of this repository."""
    found = []
    for written in _LINK.findall(prose(path)):
        if not re.match(r"[a-z]+:", written):
            name, _, anchor = written.partition("#")
            aim = (path.parent / name).resolve() if name else path
            found.append(Link(path, written, aim, anchor))
    return found


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: list[str] = []
    for heading in _HEADING.findall(prose(path)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return set(found)


def commands(command: click.Command, name: str) -> Iterator[str]:
    """Every command's full name, those of groups too."""
    yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for member in command.list_commands(context):
            found = command.get_command(context, member)
            assert found is not None, f"{name} lists {member} and has no such command"
            yield from commands(found, f"{name} {member}")


def command_lines(text: str) -> Iterator[list[str]]:
    """The words behind each `agentworks` of a shell text."""
    text = re.sub(r"\s#\s.*", "", text.replace("\\\n", " "))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_ENDING)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    words: list[str] | None = None
    for token in [*lexer, "\n"]:
        if token == "agentworks" or token.endswith("/bin/agentworks"):
            words = []
        elif words is not None and set(token) <= set(_ENDING):
            if "$@" not in words:  # a function of the shell hands its own words on
                yield words
            words = None
        elif words is not None:
            words.append(token)


def misuse(command: click.Command, words: list[str]) -> str:
    """What is wrong with a command line, judged by the command itself; "" when nothing is."""
    context = click.Context(command, **command.context_settings)
    try:
        given, rest, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError as wrong:
        return wrong.format_message()
    if isinstance(command, click.Group):
        member = command.get_command(context, rest[0]) if rest else None
        return misuse(member, rest[1:]) if member else f"no command in {words}"
    nothing: tuple[object, ...] = (None, (), [])
    missing = [
        each.name for each in command.params if each.required and given.get(each.name) in nothing
    ]
    return f"{words} lacks {missing}" if missing else ""
