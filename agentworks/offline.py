"""What the command line does on the server's own machine, with or without a running server.

Whoever may read the folder may do this: no credential is asked for. Answers are printing-ready
dicts. All functions raise Refuse, and OSError when the store cannot be opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agentworks.contracts.operation import Scope
from agentworks.identity import grants, people
from agentworks.identity.secrets import fresh, hashed
from agentworks.migrations import NewerSchema
from agentworks.rules import limits, refusals
from agentworks.rules.sign_in import label_problems, target_problems
from agentworks.rules.wording import shown
from agentworks.store import Full, Held, Snapshot, Transaction
from agentworks.store.once import transaction
from agentworks.tables import accounts, connections, tokens
from agentworks.tables.accounts import Account
from agentworks.tables.connections import Owned

DATABASE = "agentworks.db"
_NAMES_SHOWN_MAX = 10  # accounts listed in a refusal

Done = TypeVar("Done")


def create_connection(
    folder: Path,
    label: str,
    account: str | None = None,
    scopes: Sequence[str] = (Scope.READ, Scope.RUN),
    targets: Sequence[str] = (),
    expires_days: int | None = None,
) -> dict[str, Any]:
    """A connection with a token that does not have to be renewed, shown only in this answer.

    Without `account` it is the owner's; no `targets` means all, no or 0 `expires_days` never.
    Makes the folder, the store and the owner's account where they are missing.
    """
    problems = label_problems(label) + _scope_problems(scopes) + target_problems(targets)
    if expires_days is not None and not 0 <= expires_days <= limits.EXPIRES_DAYS_MAX:
        problems.append(
            f"expires_days must be 0 to {limits.EXPIRES_DAYS_MAX:,} (got {expires_days})"
        )
    if problems:
        raise refusals.invalid_input(problems)

    def create(tx: Transaction) -> dict[str, Any]:
        holder = people.owners_account(tx) if account is None else _account(tx, account)
        granted = [Scope(each) for each in scopes]
        connection_id = grants.make(
            tx, holder.account_id, label, granted, list(targets), expires_days or 0
        )
        token = fresh("aw")
        tokens.add(tx, hashed(token), connection_id, "static", None)
        made = connections.find(tx, holder.account_id, connection_id)
        assert made is not None
        shown_connection = grants.view(made)
        return {
            "status": "created",
            "connection_id": connection_id,
            "token": token,
            "label": label,
            "account": holder.name,
            "scopes": msgspec.to_builtins(shown_connection.scopes),
            "targets": shown_connection.targets,
            "expires_at": shown_connection.expires_at,
        }

    _prepare(folder)
    return _done(folder, create)


def list_connections(folder: Path, account: str | None = None) -> dict[str, Any]:
    """Every connection, or those of one account, newest first, ended ones too."""

    def found(tx: Transaction) -> list[Owned]:
        whose = None if account is None else _account(tx, account).account_id
        return [each for each in connections.every(tx) if whose in (None, each.account_id)]

    return {"status": "connections", "connections": [_line(each) for each in _in(folder, found)]}


def revoke_connection(folder: Path, connection_id: str) -> dict[str, Any]:
    """End a connection and its tokens at once. Doing it again changes nothing."""

    def revoke(tx: Transaction) -> None:
        if not connection_id.isascii() or not connections.knows(tx, connection_id):
            raise refusals.unknown_connection(connection_id)
        grants.end(tx, connection_id)

    _in(folder, revoke)
    return {"status": "revoked", "connection_id": connection_id}


def _in(folder: Path, work: Callable[[Transaction], Done]) -> Done:
    if not (folder / DATABASE).is_file():
        raise refusals.no_store()  # looking must not make one
    return _done(folder, work)


def _done(folder: Path, work: Callable[[Transaction], Done]) -> Done:
    try:
        return transaction(folder / DATABASE, work)
    except Full:
        raise refusals.storage_full() from None
    except Held:
        raise refusals.unavailable() from None
    except NewerSchema as newer:
        raise OSError(str(newer)) from newer


def _prepare(folder: Path) -> None:
    """A folder and a file that only this user may read: SQLite gives its log the same mode."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(folder / DATABASE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _account(db: Snapshot, name: str) -> Account:
    found = accounts.by_name(db, name) if name.isascii() else None
    if found is None:
        known = [each.name for each in accounts.every(db)[:_NAMES_SHOWN_MAX]]
        raise refusals.unknown_account(name, known)
    return found


def _scope_problems(scopes: Sequence[str]) -> list[str]:
    known = [scope.value for scope in Scope]
    if not scopes:
        return [f"scopes needs at least one of {', '.join(known)}"]
    return [
        f"scopes[{place}] must be one of {', '.join(known)} (got {shown(each)})"
        for place, each in enumerate(scopes)
        if each not in known
    ]


def _line(found: Owned) -> dict[str, Any]:
    view: dict[str, Any] = msgspec.to_builtins(grants.view(found))
    return {"connection_id": view.pop("connection_id"), "account": found.account_name, **view}
