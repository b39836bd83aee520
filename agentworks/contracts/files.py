"""Files of an agent: what its authors gave it, what it remembers, knows and has produced.

All lie in the agent's folder: `memory/` and `knowledge/` are its own, `outputs/` is what it
produced, everything else its authors gave it (contract §7).
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agentworks.contracts.crews import TargetWord
from agentworks.contracts.operation import OUTSIDE, Operation, Scope
from agentworks.contracts.refusal import RefusalCode

Encoding = Literal["utf-8", "base64"]
Path = Annotated[
    Annotated[str, Meta(min_length=1, max_length=900)],
    Meta(description="Below the agent's folder: knowledge/style.md.", extra={"cli": "PATH"}),
]
Folder = Annotated[
    Annotated[str, Meta(max_length=900)],
    Meta(description="Only what lies in this folder.", extra={"cli": "FOLDER"}),
]


class ListFiles(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord
    folder: Folder = ""


class AgentFile(Struct, frozen=True, kw_only=True):
    path: str
    size: int  # bytes


class AgentFiles(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="agent_files"
):
    """By path. `more` is true when there are more than can be listed."""

    agent_id: str
    files: list[AgentFile]
    more: bool = False


class ReadAgentFile(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord
    path: Path
    offset: Annotated[
        Annotated[int, Meta(ge=0, le=2**63 - 1)], Meta(description="First byte of the page.")
    ] = 0
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=2**53)],
        Meta(description="Bytes per page; more than 2 MiB gives 2 MiB."),
    ] = 262_144


class AgentFilePage(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="agent_file"
):
    """Part of a file; pages put together are the file. The last has no `next_offset`."""

    agent_id: str
    path: str
    content: str
    encoding: Encoding
    offset: int
    size: int
    next_offset: int | None = None


class WriteFile(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord
    path: Path
    content: Annotated[
        Annotated[str, Meta(max_length=16 * 1024 * 1024)],
        Meta(description="The whole new content. On the CLI, - is stdin."),
    ]
    encoding: Annotated[Encoding, Meta(description="How content is written: utf-8 or base64.")] = (
        "utf-8"
    )


class FileWritten(Struct, frozen=True, kw_only=True, tag_field="status", tag="written"):
    agent_id: str
    path: str
    size: int
    created: bool


class DeleteFile(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord
    path: Path


class FileDeleted(Struct, frozen=True, kw_only=True, tag_field="status", tag="file_deleted"):
    agent_id: str
    path: str


class SearchFiles(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    target: TargetWord
    text: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)],
        Meta(description="Words to find in a line, in any case.", extra={"cli": "TEXT"}),
    ]
    folder: Folder = ""


class FoundLine(Struct, frozen=True, kw_only=True):
    path: str
    line: int  # the first is 1
    text: str


class FoundLines(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="found"
):
    """By path and line. `more` is true when the search ended before everything was looked at."""

    agent_id: str
    lines: list[FoundLine]
    more: bool = False


_TARGETED = (RefusalCode.NOT_FOUND, RefusalCode.AMBIGUOUS_TARGET)

LIST: Operation[ListFiles, AgentFiles] = Operation(
    name="files.list",
    about="The files of an agent that you may read.",
    request=ListFiles,
    answers=(AgentFiles,),
    scope=Scope.READ,
    offered_to=OUTSIDE,
    refuses=_TARGETED,
    reads=True,
    http="GET /api/agents/{target}/files",
    cli="files list",
)
READ: Operation[ReadAgentFile, AgentFilePage] = Operation(
    name="files.read",
    about="A page of one file of an agent.",
    request=ReadAgentFile,
    answers=(AgentFilePage,),
    scope=Scope.READ,
    offered_to=OUTSIDE,
    refuses=_TARGETED,
    reads=True,
    http="GET /api/agents/{target}/file",
    cli="files read",
)
WRITE: Operation[WriteFile, FileWritten] = Operation(
    name="files.write",
    about="Give an agent a file, or replace one; it is in the agent's folder from its next turn.",
    request=WriteFile,
    answers=(FileWritten,),
    scope=Scope.AUTHOR,
    offered_to=OUTSIDE,
    refuses=_TARGETED,
    http="POST /api/agents/{target}/files",
    cli="files write",
)
DELETE: Operation[DeleteFile, FileDeleted] = Operation(
    name="files.delete",
    about="Take a file from an agent.",
    request=DeleteFile,
    answers=(FileDeleted,),
    scope=Scope.AUTHOR,
    offered_to=OUTSIDE,
    refuses=_TARGETED,
    http="DELETE /api/agents/{target}/file",
    cli="files delete",
)
SEARCH: Operation[SearchFiles, FoundLines] = Operation(
    name="files.search",
    about="Find text in the files of an agent that you may read.",
    request=SearchFiles,
    answers=(FoundLines,),
    scope=Scope.READ,
    offered_to=OUTSIDE,
    refuses=_TARGETED,
    reads=True,
    http="GET /api/agents/{target}/search",
    cli="files search",
)
