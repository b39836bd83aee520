"""What a call produced: named, read in pages, never a byte from outside its folder (case C58).

Every step into the folder is taken from the folder above it with links unfollowed, so neither a
link made after listing nor a name full of dots leads out. Names that begin with a dot, links (hard
ones too), pipes and devices do not exist here.
"""

from __future__ import annotations

import base64
import contextlib
import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agentworks.rules import limits, strict_json

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not hold us
_NAME_LENGTH_MAX = 1_024  # characters of a path
_ENTRIES_MAX = 10 * limits.FILES_LISTED_MAX  # names looked at in one folder


class ProducedFile(Struct, frozen=True, kw_only=True):
    """A file in a call's folder as it was when listed."""

    file: str  # its path below the folder, with /
    size: int  # bytes
    modified: int  # nanoseconds since 1970: compared, never shown


class Listing(Struct, frozen=True, kw_only=True):
    """What a folder holds; `more` when not everything was listed."""

    files: list[ProducedFile]
    more: bool = False


class Page(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Part of a file. Pages put one after the other are the file, byte for byte.

    `next_offset` is missing at the end. `changed`: it is not the file that was listed.
    """

    content: str
    encoding: Literal["utf-8", "base64"]
    offset: int
    size: int
    next_offset: int | None = None
    changed: bool = False


class NoSuchFile(Exception):
    """There is nothing readable under that name."""


class BadName(Exception):
    """The name or page asked for makes no sense. `problems` say all that is wrong with it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(*problems)
        self.problems = problems


def listing(base: Path, *inside: str) -> Listing:
    """The regular files below `base/inside…`, by name. Empty when there is no such folder.

    `base` is ours and trusted; a program may have replaced anything inside it.
    """
    found: list[ProducedFile] = []
    with contextlib.suppress(OSError), _folder(base, inside) as top:
        for each in _walk(top, "", limits.FILE_DEPTH_MAX):
            if len(found) == limits.FILES_LISTED_MAX:
                return Listing(files=found, more=True)
            found.append(each)
    return Listing(files=found)


def page(
    base: Path,
    inside: tuple[str, ...],
    file: str,
    offset: int = 0,
    limit: int = limits.FILE_PAGE_BYTES_DEFAULT,
    listed: ProducedFile | None = None,
) -> Page:
    """One page of `file`, from byte `offset`, of at most `limit` bytes (2 MiB at most).

    Text ends at a whole character; what is no text, or begins inside a character, is base64.
    Raises BadName (all problems at once) and NoSuchFile.
    """
    problems = name_problems(file)
    problems += ["offset must be 0 or more"] if offset < 0 else []
    problems += ["limit must be 1 or more"] if limit < 1 else []
    if problems:
        raise BadName(problems)
    opened, size, modified = _opened(base, inside, file)
    with os.fdopen(opened, "rb", 0) as source:
        raw = _read(source.fileno(), offset, min(limit, limits.FILE_PAGE_BYTES_MAX), size)
        after = os.fstat(source.fileno())
    moved = (after.st_size, after.st_mtime_ns) != (size, modified)
    changed = moved or (listed is not None and (listed.size, listed.modified) != (size, modified))
    at_end = offset + len(raw) >= size
    content, encoding, taken = _as_text(raw, at_end)
    following = offset + taken
    return Page(
        content=content,
        encoding=encoding,
        offset=offset,
        size=size,
        next_offset=following if taken and following < size else None,
        changed=changed,
    )


def page_of(raw: bytes, offset: int, limit: int) -> Page:
    """The same page of a file that is held in memory."""
    taken = raw[offset : offset + min(limit, limits.FILE_PAGE_BYTES_MAX)]
    content, encoding, size = _as_text(taken, offset + len(taken) >= len(raw))
    following = offset + size
    return Page(
        content=content,
        encoding=encoding,
        offset=offset,
        size=len(raw),
        next_offset=following if size and following < len(raw) else None,
    )


def whole(base: Path, inside: tuple[str, ...], file: str, most: int) -> bytes:
    """All of a small file. Raises NoSuchFile, and BadName when it has more than `most` bytes."""
    opened, size, _ = _opened(base, inside, file)
    with os.fdopen(opened, "rb", 0) as source:
        if size > most:
            raise BadName([f"{file} has {size:,} bytes, more than {most:,}"])
        return _read(source.fileno(), 0, most + 1, most + 1)


def write_new(
    base: Path, inside: tuple[str, ...], file: str, content: bytes, mode: int = 0o600
) -> None:
    """Put a file there, in place of one of that name. Raises BadName, OSError."""
    problems = name_problems(file)
    if problems:
        raise BadName(problems)
    *folders, name = file.split("/")
    with _folder(base, inside) as top:
        with _below(top, folders, make=True) as folder:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, mode, dir_fd=folder), "wb") as target:
                target.write(content)


def remove(base: Path, inside: tuple[str, ...], file: str) -> None:
    """Take a file away. Raises BadName; OSError when it is not there, or is a folder."""
    problems = name_problems(file)
    if problems:
        raise BadName(problems)
    *folders, name = file.split("/")
    with _folder(base, inside) as top, _below(top, folders) as folder:
        os.unlink(name, dir_fd=folder)


def name_problems(file: str) -> list[str]:
    """What keeps `file` from naming a file below a folder; empty when nothing does."""
    flaw = strict_json.text_problem(file)
    if flaw:
        return [f"file {flaw}"]
    if len(file) > _NAME_LENGTH_MAX:
        return [f"file is longer than {_NAME_LENGTH_MAX:,} characters"]
    found = []
    if not file or file.startswith("/") or file.endswith("/") or "//" in file:
        found.append("file must be a path below the call's folder, such as report/findings.md")
    if any(part.startswith(".") for part in file.split("/")):
        found.append("file must not have a part that begins with a dot")
    if any(ord(character) < 32 or ord(character) == 127 for character in file):
        found.append("file must not have control characters")
    return found


@contextlib.contextmanager
def _folder(base: Path, inside: tuple[str, ...]) -> Iterator[int]:
    top = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with _below(top, list(inside)) as folder:
            yield folder
    finally:
        os.close(top)


@contextlib.contextmanager
def _below(top: int, parts: list[str], *, make: bool = False) -> Iterator[int]:
    """The folder `parts` below `top`, each step taken without following a link."""
    with contextlib.ExitStack() as opened:
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=top)
            top = os.open(part, _FOLDER, dir_fd=top)
            opened.callback(os.close, top)
        yield top


def _opened(base: Path, inside: tuple[str, ...], file: str) -> tuple[int, int, int]:
    """A descriptor of a regular file with one name, its size and time."""
    *folders, name = file.split("/")
    try:
        with _folder(base, inside) as top, _below(top, folders) as folder:
            _must_be_plain(os.stat(name, dir_fd=folder, follow_symlinks=False))
            opened = os.open(name, _FILE, dir_fd=folder)
        found = os.fstat(opened)
        try:
            _must_be_plain(found)  # it may have been replaced between the two
        except NoSuchFile:
            os.close(opened)
            raise
    except (OSError, ValueError):
        raise NoSuchFile(file) from None
    return opened, found.st_size, found.st_mtime_ns


def _must_be_plain(found: os.stat_result) -> None:
    if not _is_plain(found):
        raise NoSuchFile("not a regular file")


def _is_plain(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def _read(source: int, offset: int, limit: int, size: int) -> bytes:
    held = bytearray()
    limit = min(limit, max(size - offset, 0))
    while len(held) < limit:
        chunk = os.pread(source, limit - len(held), offset + len(held))
        if not chunk:
            break
        held += chunk
    return bytes(held)


def _as_text(raw: bytes, at_end: bool) -> tuple[str, Literal["utf-8", "base64"], int]:
    """The page's content, how it is written, and how many bytes of `raw` it is."""
    begun = 0  # bytes of a character that began before this page
    while begun < min(3, len(raw)) and 0x80 <= raw[begun] < 0xC0:
        begun += 1
    end = len(raw) - (0 if at_end else _unfinished(raw))
    try:
        text = raw[begun:end].decode()
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode(), "base64", len(raw)
    if begun or "\0" in text or (raw and not end):
        kept = raw[: end or len(raw)]
        return base64.b64encode(kept).decode(), "base64", len(kept)
    return text, "utf-8", end


def _unfinished(raw: bytes) -> int:
    """How many bytes at the end begin a character that is not finished."""
    for back in range(1, min(3, len(raw)) + 1):
        byte = raw[-back]
        if byte >= 0xC0:
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < wanted else 0
        if byte < 0x80:
            return 0
    return 0


def _walk(folder: int, above: str, depth: int) -> Iterator[ProducedFile]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in islice(entries, _ENTRIES_MAX))
    for name in names:
        path = f"{above}{name}"
        if name_problems(path):
            continue
        with contextlib.suppress(OSError):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if _is_plain(found):
                yield ProducedFile(file=path, size=found.st_size, modified=found.st_mtime_ns)
            elif stat.S_ISDIR(found.st_mode) and depth > 0:
                with _below(folder, [name]) as inner:
                    yield from _walk(inner, f"{path}/", depth - 1)
