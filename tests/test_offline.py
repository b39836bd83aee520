"""Connections made on the server's own machine, with or without a server running."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from agentworks import offline
from agentworks.bells import Bells
from agentworks.contracts.accounts import CONTEXT
from agentworks.contracts.refusal import Refuse, Refused
from agentworks.dispatch import Dispatch
from agentworks.identity import callers
from agentworks.store import Full, Held, Store, connect
from handlers import HANDLERS
from tests.conftest import World


def refused(act: Callable[[], Any]) -> Refused:
    with pytest.raises(Refuse) as caught:
        act()
    return caught.value.refused


def context_of(folder: Path, token: str) -> Any:
    """What a server that starts on this folder now says to the token."""

    async def scene() -> Any:
        bells = Bells()
        store = Store(folder / offline.DATABASE, bells.ring)
        try:
            ask = Dispatch(store, bells, HANDLERS)
            return await ask(CONTEXT, callers.bearer(f"Bearer {token}"), {})
        finally:
            store.close()

    return asyncio.run(scene())


def test_a_connection_made_before_the_first_start_works_after_it(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    made = offline.create_connection(folder, "laptop", None, ["run", "read"], ["wf_1"], 30)
    assert made == {
        "status": "created",
        "connection_id": made["connection_id"],
        "token": made["token"],
        "label": "laptop",
        "account": "owner",
        "scopes": ["read", "run"],
        "targets": ["wf_1"],
        "expires_at": made["expires_at"],
    }
    assert made["token"].startswith("aw_") and made["connection_id"].startswith("conn_")
    answer = context_of(folder, made["token"])
    assert (answer.account_name, answer.connection.label) == ("owner", "laptop")
    assert answer.connection.expires_at == made["expires_at"]


def test_the_folder_and_the_store_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    offline.create_connection(folder, "laptop")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}


def test_a_connection_made_while_the_server_runs_works_at_once(world: World) -> None:
    made = offline.create_connection(world.path.parent, "new", "BOB", ["read"])
    assert (made["account"], made["expires_at"], made["targets"]) == ("bob", None, [])

    def ask() -> Any:
        asked = world.dispatch(CONTEXT, callers.bearer(f"Bearer {made['token']}"), {})
        return world.run(asked)

    assert ask().connection.label == "new"
    offline.revoke_connection(world.path.parent, made["connection_id"])
    assert ask().code == "not_signed_in"


def test_an_unknown_account_is_refused_with_those_there_are(world: World) -> None:
    answer = refused(lambda: offline.create_connection(world.path.parent, "x", "eve"))
    assert (answer.code, answer.problems) == (
        "not_found",
        ['no account "eve"; there is ada, bob'],
    )
    assert len(offline.list_connections(world.path.parent)["connections"]) == 5


def test_every_problem_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    answer = refused(
        lambda: offline.create_connection(
            folder, "\x1b", "owner", ["read", "root"], ["a b", "ok", "\ud800"], 9_999
        )
    )
    assert [each.split()[0] for each in answer.problems] == [
        "label",
        "scopes[1]",
        "targets[0]",
        "targets[2]",
        "expires_days",
    ]
    assert not folder.exists()


def test_connections_are_listed_for_all_accounts_or_one(world: World) -> None:
    folder = world.path.parent
    everybody = offline.list_connections(folder)["connections"]
    assert [(each["connection_id"], each["account"]) for each in everybody] == [
        ("conn_bob", "bob"),
        ("conn_watcher", "ada"),
        ("conn_laptop", "ada"),
        ("conn_reviewer", "ada"),
        ("conn_worker", "ada"),
    ]
    assert offline.list_connections(folder, "Bob") == {
        "status": "connections",
        "connections": [everybody[0]],
    }
    assert everybody[0] == {
        "connection_id": "conn_bob",
        "account": "bob",
        "label": "bob's laptop",
        "scopes": ["read", "run"],
        "created_at": "2023-07-22T04:26:40.005Z",
    }


def test_a_revoked_connection_stays_listed_and_can_be_revoked_again(world: World) -> None:
    folder = world.path.parent
    answer = {"status": "revoked", "connection_id": "conn_bob"}
    assert offline.revoke_connection(folder, "conn_bob") == answer
    listed = offline.list_connections(folder, "bob")
    assert listed["connections"][0]["revoked_at"]
    assert offline.revoke_connection(folder, "conn_bob") == answer
    assert offline.list_connections(folder, "bob") == listed


@pytest.mark.parametrize("connection_id", ["conn_nobody", "", "conn_\udcff"])
def test_an_unknown_connection_cannot_be_revoked(world: World, connection_id: str) -> None:
    answer = refused(lambda: offline.revoke_connection(world.path.parent, connection_id))
    assert answer.code == "not_found"


def test_looking_makes_no_store(tmp_path: Path) -> None:
    assert refused(lambda: offline.list_connections(tmp_path)).code == "not_found"
    assert refused(lambda: offline.revoke_connection(tmp_path, "conn_1")).code == "not_found"
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    offline.create_connection(tmp_path, "laptop")
    db = connect(str(tmp_path / offline.DATABASE))
    db.execute("PRAGMA user_version = 999")
    db.close()
    with pytest.raises(OSError, match="written by a newer agentworks"):
        offline.create_connection(tmp_path, "another")


@pytest.mark.parametrize(
    ("trouble", "code"), [(Full, "storage_full"), (Held, "unavailable")], ids=["full", "held"]
)
def test_a_store_in_trouble_is_a_refusal(
    world: World, monkeypatch: pytest.MonkeyPatch, trouble: type[Exception], code: str
) -> None:
    monkeypatch.setattr(offline, "transaction", Mock(side_effect=trouble))
    assert refused(lambda: offline.create_connection(world.path.parent, "x")).code == code


def test_what_is_no_store_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / offline.DATABASE).write_bytes(b"certainly not a database" * 100)
    with pytest.raises(OSError, match="not a database"):
        offline.list_connections(tmp_path)
