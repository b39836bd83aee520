"""Pages of calls, newest first, each from one index: as quick among many calls as among few.

`at` and `call_id` are the last call of the page before; a page begins below it.
"""

from __future__ import annotations

from msgspec import Struct

from agentworks.store import Snapshot


class Line(Struct, frozen=True):
    call_id: str
    agent_id: str
    function: str
    state: str
    account_id: str
    caller_name: str
    caller_chat_id: str | None
    accepted_at: int
    settled_at: int | None


def of_account(db: Snapshot, account_id: str, at: int, call_id: str, limit: int) -> list[Line]:
    """Calls that an account, or an agent acting for it, has made."""
    return db.rows(
        Line,
        """
        SELECT call_id, agent_id, function, state, account_id, caller_name, caller_chat_id,
               accepted_at, settled_at
        FROM calls
        WHERE account_id = :account_id
          AND (accepted_at, call_id) < (:at, :call_id)
        ORDER BY accepted_at DESC, call_id DESC
        LIMIT :limit
        """,
        account_id=account_id,
        at=at,
        call_id=call_id,
        limit=limit,
    )


def of_owner(db: Snapshot, owner_id: str, at: int, call_id: str, limit: int) -> list[Line]:
    """Calls of the agents that an account owns, whoever made them."""
    return db.rows(
        Line,
        """
        SELECT call_id, agent_id, function, state, account_id, caller_name, caller_chat_id,
               accepted_at, settled_at
        FROM calls
        WHERE owner_id = :owner_id
          AND (accepted_at, call_id) < (:at, :call_id)
        ORDER BY accepted_at DESC, call_id DESC
        LIMIT :limit
        """,
        owner_id=owner_id,
        at=at,
        call_id=call_id,
        limit=limit,
    )


def of_agent(db: Snapshot, agent_id: str, at: int, call_id: str, limit: int) -> list[Line]:
    """Calls of one agent, whoever made them."""
    return db.rows(
        Line,
        """
        SELECT call_id, agent_id, function, state, account_id, caller_name, caller_chat_id,
               accepted_at, settled_at
        FROM calls
        WHERE agent_id = :agent_id
          AND (accepted_at, call_id) < (:at, :call_id)
        ORDER BY accepted_at DESC, call_id DESC
        LIMIT :limit
        """,
        agent_id=agent_id,
        at=at,
        call_id=call_id,
        limit=limit,
    )
