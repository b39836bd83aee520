"""The files of an agent as people see them: what is in its folder, and what is yet to be placed.

What its authors gave it counts as they gave it until it has been placed; from then on the agent
may have changed it, and its folder says how it is now. Names and links are taken with the care of
`files`: the folder belongs to a program that may be hostile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from agentworks.contracts.crews import CrewDeleted
from agentworks.contracts.files import (
    AgentFile,
    AgentFilePage,
    AgentFiles,
    FileDeleted,
    FileWritten,
    FoundLine,
    FoundLines,
)
from agentworks.dispatch import Doer
from agentworks.errands import (
    Authored,
    ListAgentFiles,
    ReadAgentFile,
    RemoveAgentFile,
    RemoveAgentFolder,
    SearchAgentFiles,
    WriteAgentFile,
)
from agentworks.rules import limits
from agentworks.rules import refusals_of_agents as refusals
from agentworks.runners import files, folders, placing
from agentworks.runners.files import BadName, NoSuchFile


def errands(root: Path) -> Mapping[type[Struct], Doer]:
    """Who does which errand; `root` is the server's folder for agents."""
    shelves = Shelves(root)
    return {
        ListAgentFiles: shelves.named,
        ReadAgentFile: shelves.read,
        WriteAgentFile: shelves.write,
        RemoveAgentFile: shelves.remove,
        SearchAgentFiles: shelves.search,
        RemoveAgentFolder: shelves.clear,
    }


class There(NamedTuple):
    """A file: where it lies, how large it is, and its content if it has not been placed yet."""

    path: str
    size: int
    content: bytes | None


class Shelves:
    """The folders of all agents below `root`. Every method blocks and belongs on a thread."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def named(self, errand: ListAgentFiles) -> AgentFiles:
        found, more = self._there(errand.agent_id, errand.folder, errand.authored)
        return AgentFiles(
            agent_id=errand.agent_id,
            files=[AgentFile(path=each.path, size=each.size) for each in found],
            more=more,
        )

    def read(self, errand: ReadAgentFile) -> AgentFilePage:
        page = self._page(errand)
        return AgentFilePage(
            agent_id=errand.agent_id,
            path=errand.path,
            content=page.content,
            encoding=page.encoding,
            offset=page.offset,
            size=page.size,
            next_offset=page.next_offset,
        )

    def write(self, errand: WriteAgentFile) -> FileWritten:
        folder = self._root / errand.agent_id
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        created = self._size(errand.agent_id, errand.path) is None
        try:
            files.write_new(self._root, (errand.agent_id,), errand.path, errand.content)
        except (OSError, BadName) as why:
            raise refusals.not_writable(errand.path, why) from None
        return FileWritten(
            agent_id=errand.agent_id,
            path=errand.path,
            size=len(errand.content),
            created=created,
        )

    def remove(self, errand: RemoveAgentFile) -> FileDeleted:
        placed = placing.remembered(self._root, errand.agent_id)
        try:
            if errand.path in placed:  # its authors have taken it back already
                raise NoSuchFile(errand.path)
            files.remove(self._root, (errand.agent_id,), errand.path)
        except (OSError, BadName, NoSuchFile):
            raise refusals.unknown_file(errand.path) from None
        return FileDeleted(agent_id=errand.agent_id, path=errand.path)

    def clear(self, errand: RemoveAgentFolder) -> CrewDeleted:
        folders.remove(self._root / errand.agent_id)
        placing.forget(self._root, errand.agent_id)
        return CrewDeleted(agent_id=errand.agent_id)

    def search(self, errand: SearchAgentFiles) -> FoundLines:
        found, more = self._there(errand.agent_id, errand.folder, errand.authored)
        lines: list[FoundLine] = []
        looked_at = 0
        for each in found:
            looked_at += each.size if each.size <= limits.SEARCH_FILE_BYTES_MAX else 0
            if looked_at > limits.SEARCH_BYTES_MAX or len(lines) > limits.SEARCH_HITS_MAX:
                more = True
                break
            lines += lines_with(errand.text, each.path, self._text(errand.agent_id, each))
        return FoundLines(
            agent_id=errand.agent_id,
            lines=lines[: limits.SEARCH_HITS_MAX],
            more=more or len(lines) > limits.SEARCH_HITS_MAX,
        )

    # ── what is there ────────────────────────────────────────────────────────────────────────

    def _there(
        self, agent_id: str, folder: str, authored: Sequence[Authored]
    ) -> tuple[list[There], bool]:
        """By path; and whether there are more than can be listed."""
        placed = placing.remembered(self._root, agent_id)
        inside = tuple(folder.split("/")) if folder else ()
        listing = files.listing(self._root, agent_id, *inside)
        above = f"{folder}/" if folder else ""
        found = {f"{above}{each.file}": each.size for each in listing.files}
        there = {
            path: There(path, size, None)
            for path, size in found.items()
            if path not in placed  # its authors gave it; below, if they still do
        }
        for each in authored:
            if each.path.startswith(above):
                on_disk = found.get(each.path) if is_placed(each, placed) else None
                there[each.path] = (
                    There(each.path, each.size, each.content)
                    if on_disk is None
                    else There(each.path, on_disk, None)
                )
        most = limits.FILES_LISTED_MAX
        paths = sorted(there)
        return [there[path] for path in paths[:most]], listing.more or len(paths) > most

    def _page(self, errand: ReadAgentFile) -> files.Page:
        placed = placing.remembered(self._root, errand.agent_id)
        authored = errand.authored
        if authored is None and errand.path in placed:
            raise refusals.unknown_file(errand.path)
        if authored is None or is_placed(authored, placed):
            try:
                inside = (errand.agent_id,)
                return files.page(self._root, inside, errand.path, errand.offset, errand.limit)
            except (BadName, NoSuchFile):
                if authored is None:
                    raise refusals.unknown_file(errand.path) from None
        return files.page_of(authored.content, errand.offset, errand.limit)

    def _size(self, agent_id: str, path: str) -> int | None:
        try:
            return files.page(self._root, (agent_id,), path, 0, 1).size
        except (BadName, NoSuchFile):
            return None

    def _text(self, agent_id: str, there: There) -> str:
        """A file as text; "" for what is none, is too large, or is gone meanwhile."""
        try:
            raw = there.content
            if raw is None:
                most = limits.SEARCH_FILE_BYTES_MAX
                raw = files.whole(self._root, (agent_id,), there.path, most)
            text = raw.decode()
        except (BadName, NoSuchFile, UnicodeDecodeError):
            return ""
        return "" if "\0" in text else text


def is_placed(authored: Authored, placed: dict[str, str]) -> bool:
    return placed.get(authored.path) == authored.sha256.hex()


def lines_with(text: str, path: str, content: str) -> Iterator[FoundLine]:
    """The lines that hold `text` in any case, at most as many as one search tells, and one more."""
    wanted, most, count = text.casefold(), limits.SEARCH_LINE_LENGTH_MAX, 0
    if wanted not in content.casefold():
        return
    for number, line in enumerate(content.split("\n"), 1):
        if wanted in line.casefold():
            yield FoundLine(path=path, line=number, text=line.strip("\r")[:most])
            count += 1
            if count > limits.SEARCH_HITS_MAX:
                return
