"""Chats: the conversations inside an agent. Each is found by who continues it, or begun."""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot, Transaction

OWN = "own"  # the holder of an agent's own chat: it has one


class Chat(Struct, frozen=True):
    """`mode` is builder or run; `kind` is own, caller, messages, call or trigger."""

    chat_id: str
    agent_id: str
    mode: str
    kind: str
    holder: str | None
    title: str
    session_ref: str | None


def find(db: Snapshot, chat_id: str) -> Chat | None:
    return db.row(
        Chat,
        """
        SELECT chat_id, agent_id, mode, kind, holder, title, session_ref
        FROM chats
        WHERE chat_id = :chat_id
        """,
        chat_id=chat_id,
    )


def continued(db: Snapshot, agent_id: str, kind: str, holder: str) -> Chat | None:
    """The chat of that kind that `holder` continues: `account:…`, `registration:…`, or OWN."""
    return db.row(
        Chat,
        """
        SELECT chat_id, agent_id, mode, kind, holder, title, session_ref
        FROM chats
        WHERE agent_id = :agent_id
          AND kind = :kind
          AND holder = :holder
        """,
        agent_id=agent_id,
        kind=kind,
        holder=holder,
    )


def begin(
    tx: Transaction, agent_id: str, mode: str, kind: str, holder: str | None, title: str
) -> str:
    """A new chat; returns its id. Without a holder nobody continues it."""
    chat_id = tx.new_id("chat")
    tx.run(
        """
        INSERT INTO chats (chat_id, agent_id, mode, kind, holder, title, opened_at, active_at)
        VALUES (:chat_id, :agent_id, :mode, :kind, :holder, :title, :now, :now)
        """,
        chat_id=chat_id,
        agent_id=agent_id,
        mode=mode,
        kind=kind,
        holder=holder,
        title=title,
        now=tx.now,
    )
    return chat_id


def let_go(tx: Transaction, chat_id: str) -> None:
    """Its holder continues it no longer, and may begin another. What is in it stays."""
    tx.run("UPDATE chats SET holder = NULL WHERE chat_id = :chat_id", chat_id=chat_id)


def set_mode(tx: Transaction, chat_id: str, mode: str) -> None:
    """Its next turns run in this mode: what its holder may do has changed."""
    tx.run(
        "UPDATE chats SET mode = :mode WHERE chat_id = :chat_id AND mode <> :mode",
        chat_id=chat_id,
        mode=mode,
    )
