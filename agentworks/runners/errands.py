"""Errands done: what handlers want from the folders of agents, fetched on a thread."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct

from agentworks.contracts.calls import CallFile, FileList, FilePage
from agentworks.contracts.refusal import Refused
from agentworks.dispatch import Doer
from agentworks.errands import ListCallFiles, ReadCallFile
from agentworks.rules import refusals, refusals_of_work
from agentworks.runners import agent_files, files, folders
from agentworks.runners.files import BadName, NoSuchFile, ProducedFile


def errands(root: Path) -> Mapping[type[Struct], Doer]:
    """Who does which errand; `root` is the server's folder for agents."""
    return {
        ListCallFiles: partial(list_call_files, root),
        ReadCallFile: partial(read_call_file, root),
        **agent_files.errands(root),
    }


def list_call_files(root: Path, errand: ListCallFiles) -> FileList:
    base, inside = _place(root, errand.agent_id, errand.call_id)
    found = files.listing(base, *inside)
    return FileList(
        files=[CallFile(file=each.file, size=each.size) for each in found.files], more=found.more
    )


def read_call_file(root: Path, errand: ReadCallFile) -> FilePage | Refused:
    """The page, or why there is none: a name that makes no sense, no such file, or a swept one."""
    base, inside = _place(root, errand.agent_id, errand.call_id)
    listed = None
    if errand.listed is not None:
        listed = ProducedFile(
            file=errand.file, size=errand.listed.size, modified=errand.listed.modified
        )
    try:
        page = files.page(base, inside, errand.file, errand.offset, errand.limit, listed)
    except BadName as bad:
        return refusals.invalid_input(bad.problems).refused
    except NoSuchFile:
        if listed is not None and not folders.place(root, *_ids(errand)).turn.exists():
            return refusals_of_work.files_expired(errand.call_id).refused
        return refusals_of_work.unknown_call_file(errand.call_id, errand.file).refused
    return FilePage(
        file=errand.file,
        content=page.content,
        encoding=page.encoding,
        offset=page.offset,
        next_offset=page.next_offset,
        size=page.size,
        changed=page.changed,
    )


def _ids(errand: ReadCallFile) -> tuple[str, str]:
    return errand.agent_id, errand.call_id


def _place(root: Path, agent_id: str, call_id: str) -> tuple[Path, tuple[str, ...]]:
    """The server's own folder, and the way from there to the call's output."""
    out = folders.place(root, agent_id, call_id).out
    return root, out.relative_to(root).parts
