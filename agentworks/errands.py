"""Errands: what a handler wants done outside the transaction, as values (decision 0016).

A handler decides who may have what; a runner, which knows folders and files, fetches it.
"""

from __future__ import annotations

from msgspec import Struct


class Listed(Struct, frozen=True):
    """A file as it was when it was listed; `modified` is in nanoseconds since 1970."""

    size: int
    modified: int


class ListCallFiles(Struct, frozen=True):
    """What a running call has produced so far."""

    agent_id: str
    call_id: str


class ReadCallFile(Struct, frozen=True):
    """One page of a file a call has produced.

    `listed` is that file as its call's record has it, if it does; `offset` and `limit` are bytes.
    """

    agent_id: str
    call_id: str
    file: str
    offset: int
    limit: int
    listed: Listed | None = None


class Authored(Struct, frozen=True):
    """A file its authors gave an agent, as the store has it; its content where it is needed."""

    path: str
    size: int
    sha256: bytes
    content: bytes = b""


class ListAgentFiles(Struct, frozen=True):
    """The files of an agent, in one folder of it or in all of it."""

    agent_id: str
    folder: str
    authored: list[Authored]


class ReadAgentFile(Struct, frozen=True):
    """One page of one file. `authored` is None for what its authors have not given it."""

    agent_id: str
    path: str
    offset: int
    limit: int
    authored: Authored | None


class WriteAgentFile(Struct, frozen=True):
    """Put a file into the part of an agent's folder that is its own."""

    agent_id: str
    path: str
    content: bytes


class RemoveAgentFile(Struct, frozen=True):
    """Take away a file that the agent itself has written."""

    agent_id: str
    path: str


class SearchAgentFiles(Struct, frozen=True):
    """The lines that hold a text, in any case, in one folder of an agent or in all of it."""

    agent_id: str
    text: str
    folder: str
    authored: list[Authored]


class RemoveAgentFolder(Struct, frozen=True):
    """Everything an agent had, once its rows are gone."""

    agent_id: str
