"""`agentworks export`: an agent's definition and files, written so that `apply` finds no change."""

from __future__ import annotations

import base64
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from agentworks.contracts import crews
from cli import toml
from cli.config import Given, reach_from
from cli.local import NAMES, file_path, json_option
from cli.remote import call
from cli.render import Exit, Stop, exit_code, one_line, refusal_lines, say, show, visible

_FOLDERS = {"crew": ("crews", "crew.toml"), "code": ("code", "code.toml")}
_PART = re.compile(r"[^./\x00-\x1f\x7f][^/\x00-\x1f\x7f]*")


class Plan(Struct, frozen=True):
    """What an export does to a folder. `other` files are in it and in no definition."""

    place: Path
    new: dict[str, bytes]
    changed: dict[str, bytes]
    other: list[str]


@click.command(context_settings=NAMES)
@click.argument("target", metavar="TARGET")
@click.argument("folder", metavar="DIR", callback=file_path)
@click.option("--yes", is_flag=True, help="Overwrite and remove files there without asking.")
@json_option
@click.pass_obj
def export(given: Given, target: str, folder: Path, yes: bool, as_json: bool) -> int:
    """Write an agent's definition and files below a folder.

    They are written as `apply` reads them. They go to DIR/crews/NAME or DIR/code/NAME; to the
    folder of that agent, if DIR has one.
    Comments in a crew.toml that is overwritten are lost.
    """
    reply = call(reach_from(given), crews.EXPORT, {"target": target})
    if reply.answer["status"] == "exported":
        plan = planned(folder, reply.answer)
        if (plan.changed or plan.other) and not yes and not agreed(plan):
            say("agentworks: nothing was written")
            return Exit.REFUSED
        perform(plan)
    if as_json:
        show(reply.body.rstrip(b"\n") + b"\n")
    elif reply.answer["status"] == "exported":
        show(f"{visible(str(plan.place))}\n".encode("utf-8", "backslashreplace"))
    else:
        for line in refusal_lines(reply.answer, ""):
            say(line)
    return exit_code(reply.answer)


def planned(folder: Path, answer: dict[str, Any]) -> Plan:
    """What is to be written where. Stops at names that would lead out of the folder."""
    definition = dict(answer["definition"])
    group, name = _FOLDERS["code" if definition.pop("kind", "crew") == "code" else "crew"]
    place = place_of(folder, group, name, str(definition.get("name")), str(answer["agent_id"]))
    wanted = {each["path"]: content_of(each) for each in answer.get("files", [])}
    for path in wanted:
        if not all(map(_PART.fullmatch, path.split("/"))) or path == name:
            raise Stop(f"the server sent a file named {one_line(path)}", Exit.UNREACHABLE)
    there = files_in(place)
    if meaning_of(place / name) == definition:
        there.discard(name)  # as it stands, with its comments
    else:
        wanted[name] = toml.document(definition).encode()
    changed = {path: raw for path, raw in wanted.items() if path in there}
    return Plan(
        place,
        new={path: raw for path, raw in wanted.items() if path not in there},
        changed={path: raw for path, raw in changed.items() if (place / path).read_bytes() != raw},
        other=sorted(there - wanted.keys()),
    )


def place_of(folder: Path, group: str, name: str, agent: str, agent_id: str) -> Path:
    """The folder whose definition has that name, else a new one."""
    within = sorted((folder / group).iterdir()) if (folder / group).is_dir() else []
    for each in (folder, *filter(_is_ours, within)):
        if key(str((meaning_of(each / name) or {}).get("name", ""))) == key(agent):
            return each
    place = folder / group / (re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-") or agent_id)
    return place if not os.path.lexists(place) else folder / group / agent_id


def key(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def meaning_of(path: Path) -> dict[str, Any] | None:
    """What a definition says; None for none that can be read."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def content_of(file: dict[str, str]) -> bytes:
    if file.get("encoding") == "base64":
        return base64.b64decode(file["content"])
    return file["content"].encode()


def files_in(place: Path) -> set[str]:
    """The plain files below a folder; links, and names that begin with a dot, are left alone."""
    found = set()
    for above, folders, names in os.walk(place):
        folders[:] = [name for name in folders if _is_ours(Path(above, name))]
        for name in names:
            path = Path(above, name)
            if _is_ours(path) and path.is_file():
                found.add(str(path.relative_to(place)))
    return found


def _is_ours(path: Path) -> bool:
    return not path.name.startswith(".") and path.name != "__pycache__" and not path.is_symlink()


def agreed(plan: Plan) -> bool:
    """Ask the person about what would be lost. Stops where there is none."""
    for path in plan.changed:
        say(f"  ~ {plan.place / path}")
    for path in plan.other:
        say(f"  - {plan.place / path}")
    if sys.stdin is None or not sys.stdin.isatty():
        raise Stop("there is no terminal to ask on; pass --yes to change these", Exit.USAGE)
    say("Overwrite and remove these? [y/N]")
    return sys.stdin.readline(100).strip().lower() in ("y", "yes")


def perform(plan: Plan) -> None:
    try:
        for path in plan.other:
            (plan.place / path).unlink()
        for path, raw in (plan.new | plan.changed).items():
            write(plan.place, path, raw)
    except OSError as cannot:
        raise Stop(f"cannot write {cannot.filename}: {cannot.strerror}", Exit.FAULT) from None


def write(place: Path, path: str, raw: bytes) -> None:
    """Put a file there, through no link."""
    target = place / path
    target.parent.mkdir(parents=True, exist_ok=True)
    for above in target.relative_to(place).parents:
        if (place / above).is_symlink():
            raise OSError(0, "a link is in its way", str(place / above))
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(target, flags, 0o666), "wb") as file:
        file.write(raw)
