"""A folder of definitions: crews/<name>/crew.toml and code/<name>/code.toml, with their files.

Everything is read before anything is sent, and everything that cannot be is told at once. Links and
names that begin with a dot are refused, not skipped: what is not uploaded would be missed later.
"""

from __future__ import annotations

import base64
import os
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

FILES = {"crews": "crew.toml", "code": "code.toml"}  # by the folder that holds them
KINDS = {"crew.toml": "crew", "code.toml": "code"}
LATER = ("workflows", "relays")  # part of a workspace, and not of this version
LEFT_OUT = "__pycache__"  # what Python leaves behind
UPLOAD_BYTES_MAX = 16 * 1024 * 1024  # of one agent's files, and of the request they are in


class Declared(Struct, frozen=True):
    """One agent as its folder declares it."""

    where: str  # its definition, as a path from the folder that was named
    definition: dict[str, Any]
    files: list[dict[str, str]]


class Unreadable(Exception):
    """Something in the folder cannot be uploaded. `problems` are all that were found."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(*problems)
        self.problems = problems


def read(folder: Path) -> list[Declared]:
    """Every agent declared in `folder`, by path. Raises Unreadable."""
    problems: list[str] = []
    places = list(_places(folder, problems))
    found = [_declared(folder, place, name, problems) for place, name in places]
    if not places and not problems:
        problems.append(
            f"{folder} declares nothing: there is no crews/NAME/crew.toml or code/NAME/code.toml"
        )
    if problems:
        raise Unreadable(problems)
    return found


def _places(folder: Path, problems: list[str]) -> Iterator[tuple[Path, str]]:
    """Each agent's folder and the name of its definition."""
    own = [name for name in KINDS if os.path.lexists(folder / name)]
    if len(own) > 1:
        problems.append(f"{folder} holds crew.toml and code.toml; an agent is one of the two")
    elif own:
        yield folder, own[0]
        return
    problems += [
        f"{name}/ cannot be applied by this version" for name in LATER if (folder / name).exists()
    ]
    for group, name in FILES.items():
        for entry in _entries(folder / group, f"{group}/", problems):
            place = folder / group / entry.name
            if not entry.is_dir(follow_symlinks=False):
                problems.append(f"{group}/{entry.name} is no folder of an agent")
            elif not os.path.lexists(place / name):
                problems.append(f"{group}/{entry.name} has no {name}")
            else:
                yield place, name


def _entries(folder: Path, shown: str, problems: list[str]) -> list[os.DirEntry[str]]:
    """What lies in a folder, by name, without what is refused; nothing if it is not there."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        return []
    except OSError as cannot:
        problems.append(f"{shown}: {cannot.strerror}")
        return []
    kept = []
    for entry in found:
        refused = _refused(entry)
        if refused:
            problems.append(f"{shown}{_shown(entry.name)}: {refused}")
        elif entry.name != LEFT_OUT:
            kept.append(entry)
    return kept


def _refused(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "links are not uploaded; put the file itself there, or take it away"
    if entry.name.startswith("."):
        return "names that begin with a dot are not uploaded; take it away"
    try:
        entry.name.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return ""


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def _declared(folder: Path, place: Path, name: str, problems: list[str]) -> Declared:
    above = f"{place.relative_to(folder)}/" if place != folder else ""
    where = f"{above}{name}"
    definition = _definition(place / name, where, problems)
    kind = KINDS[name]
    if definition.setdefault("kind", kind) != kind:
        problems.append(f"{where}: kind must be {kind}, as the name of the file says")
    files: list[dict[str, str]] = []
    size = 0
    for path, raw in _files(place, above, "", name, problems):
        size += len(raw)
        files.append(_upload(path, raw))
    if size > UPLOAD_BYTES_MAX:
        problems.append(
            f"{above or folder}: its files have {size:,} bytes; at most {UPLOAD_BYTES_MAX:,} go"
        )
    return Declared(where, definition, files)


# ── the definition ───────────────────────────────────────────────────────────────────────────


def _definition(path: Path, where: str, problems: list[str]) -> dict[str, Any]:
    """What a TOML file holds; every problem with its line."""
    raw = _bytes(path, where, problems)
    try:
        found = tomllib.loads(raw.decode())
    except UnicodeDecodeError as wrong:
        line = raw.count(b"\n", 0, wrong.start) + 1
        problems.append(f"{where}: not UTF-8 (at line {line})")
        return {}
    except (ValueError, RecursionError) as wrong:  # TOMLDecodeError says line and column
        problems.append(f"{where}: {wrong}")
        return {}
    problems += [f"{where}: {each}" for each in _not_json(found, "")]
    return found


def _not_json(value: Any, at: str) -> Iterator[str]:
    """What TOML can say and JSON cannot: dates, times, nan and inf."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _not_json(each, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _not_json(each, f"{at}[{place}]")
    elif isinstance(value, float) and value - value != 0:
        yield f"{at} is {value}, which is no JSON number"
    elif not isinstance(value, str | int | float):
        yield f"{at} is a date or time; write it as text, in quotes"


# ── the files beside it ──────────────────────────────────────────────────────────────────────


def _files(
    place: Path, above: str, inside: str, definition: str, problems: list[str]
) -> Iterator[tuple[str, bytes]]:
    for entry in _entries(place / inside, f"{above}{inside}", problems):
        path = f"{inside}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _files(place, above, f"{path}/", definition, problems)
        elif not entry.is_file(follow_symlinks=False):
            problems.append(f"{above}{path}: neither a file nor a folder")
        elif path != definition:
            yield path, _bytes(place / path, f"{above}{path}", problems)


def _bytes(path: Path, where: str, problems: list[str]) -> bytes:
    """A file's content; of one that cannot be uploaded, nothing."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                problems.append(f"{where}: neither a file nor a folder")
                return b""
            raw = file.read(UPLOAD_BYTES_MAX + 1)
    except OSError as cannot:
        problems.append(f"{where}: {cannot.strerror}")
        return b""
    if len(raw) > UPLOAD_BYTES_MAX:
        problems.append(f"{where}: more than {UPLOAD_BYTES_MAX:,} bytes")
        return b""
    return raw


def _upload(path: str, raw: bytes) -> dict[str, str]:
    """As text where it is text: half the size, and a person can read what is sent."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return {"path": path, "content": text}
    return {"path": path, "content": base64.b64encode(raw).decode(), "encoding": "base64"}
