"""The files its authors gave an agent, as they are to stand in its folder (decision 0020)."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction


class Listed(Struct, frozen=True):
    """A file without its content. `sha256` says whether two contents are the same."""

    path: str
    size: int
    sha256: bytes
    changed_at: int


class Whole(Struct, frozen=True):
    path: str
    content: bytes


class Kept(Struct, frozen=True):
    content: bytes
    sha256: bytes


def of_agent(db: Snapshot, agent_id: str) -> list[Listed]:
    """By path."""
    return db.rows(
        Listed,
        """
        SELECT path, length(content) AS size, sha256, changed_at
        FROM agent_files
        WHERE agent_id = :agent_id
        ORDER BY path
        """,
        agent_id=agent_id,
    )


def whole(db: Snapshot, agent_id: str) -> list[Whole]:
    """All of them with their contents, 16 MiB at most together; by path."""
    return db.rows(
        Whole,
        """
        SELECT path, content
        FROM agent_files
        WHERE agent_id = :agent_id
        ORDER BY path
        """,
        agent_id=agent_id,
    )


def find(db: Snapshot, agent_id: str, path: str) -> Kept | None:
    return db.row(
        Kept,
        """
        SELECT content, sha256
        FROM agent_files
        WHERE agent_id = :agent_id
          AND path = :path
        """,
        agent_id=agent_id,
        path=path,
    )


def put(tx: Transaction, agent_id: str, path: str, content: bytes, sha256: bytes) -> None:
    """Save it, in place of one of that path."""
    tx.run(
        """
        INSERT INTO agent_files (agent_id, path, content, sha256, changed_at)
        VALUES (:agent_id, :path, :content, :sha256, :now)
        ON CONFLICT (agent_id, path) DO UPDATE
        SET content = excluded.content, sha256 = excluded.sha256, changed_at = excluded.changed_at
        """,
        agent_id=agent_id,
        path=path,
        content=content,
        sha256=sha256,
        now=tx.now,
    )


def remove(tx: Transaction, agent_id: str, path: str) -> None:
    tx.run(
        "DELETE FROM agent_files WHERE agent_id = :agent_id AND path = :path",
        agent_id=agent_id,
        path=path,
    )
