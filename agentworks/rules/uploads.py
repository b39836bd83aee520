"""The files that come with a definition: their names, their contents, and how much they may be."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from agentworks.contracts.definitions import UploadedFile
from agentworks.rules import limits
from agentworks.rules.changes import Content
from agentworks.rules.paths import authored_problems, clashes
from agentworks.rules.shapes import misfits
from agentworks.rules.strict_json import child, text_problem


class Uploaded(Struct, frozen=True):
    """Every file by its path, in bytes and as it is compared; or what is wrong with them."""

    contents: dict[str, bytes]
    files: dict[str, Content]
    problems: list[str]


class NotReadable(Exception):
    """A content is not written in its encoding; the text says how."""


def read(files: list[Any]) -> Uploaded:
    """The files of one upload. Raises nothing: `files` may be any JSON list."""
    contents: dict[str, bytes] = {}
    problems: list[str] = []
    paths: list[str] = []
    for place, each in enumerate(files[: limits.AGENT_FILES_MAX]):
        at = child("files", place)
        found = list(misfits(each, UploadedFile, at)) or authored_problems(
            each["path"], f"{at}.path"
        )
        if not found:
            paths.append(each["path"])
            try:
                contents[each["path"]] = decoded(each["content"], each.get("encoding", "utf-8"))
            except NotReadable as why:
                found.append(f"{at}.content {why}")
        problems += found
    problems += clashes(paths)
    problems += size_problems(len(files), sum(map(len, contents.values())))
    return Uploaded(contents, {path: of(raw) for path, raw in contents.items()}, problems)


def size_problems(count: int, size: int) -> Iterator[str]:
    """Why an agent cannot have so many files, or so large ones."""
    if count > limits.AGENT_FILES_MAX:
        yield f"files has {count:,}; at most {limits.AGENT_FILES_MAX:,} are allowed"
    most = limits.AGENT_FILES_BYTES_MAX
    if size > most:
        yield f"files have {size:,} bytes together; at most {most:,} are allowed"


def decoded(content: str, encoding: str) -> bytes:
    """Raises NotReadable."""
    if encoding == "base64":
        try:
            return base64.b64decode(content, validate=True)
        except ValueError:
            raise NotReadable("is not base64") from None
    flaw = text_problem(content)
    if flaw is not None:
        raise NotReadable(flaw)
    return content.encode()


def encoded(path: str, raw: bytes) -> UploadedFile:
    """A file as it is uploaded: as text where it is text, as base64 where it is not."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return UploadedFile(path=path, content=text)
    return UploadedFile(path=path, content=base64.b64encode(raw).decode(), encoding="base64")


def of(raw: bytes) -> Content:
    return Content(len(raw), hashlib.sha256(raw).digest())
