"""Secrets and counts: what is kept of a password, and how a server keeps its own key."""

from __future__ import annotations

import asyncio
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts.accounts import CONNECTIONS, CONTEXT
from agentworks.contracts.refusal import Refuse
from agentworks.identity import attempts, key, passwords, people
from agentworks.identity.last_used import LastUsed
from agentworks.rules import limits
from agentworks.store import Held, Store
from tests.conftest import World

PASSWORD = "correct horse battery"

# ── passwords ────────────────────────────────────────────────────────────────────────────────


def test_hashes_cost_what_the_module_says() -> None:
    made = asyncio.run(passwords.hashed(PASSWORD))
    assert made.startswith("$argon2id$v=19$m=32768,t=3,p=1$") and PASSWORD not in made
    assert asyncio.run(passwords.matches(made, PASSWORD))


def test_a_password_is_the_same_however_its_characters_are_composed() -> None:
    made = asyncio.run(passwords.hashed("caf\u00e9 au lait, zo\u00eb"))
    assert asyncio.run(passwords.matches(made, "cafe\u0301 au lait, zoe\u0308"))
    assert not asyncio.run(passwords.matches(made, "cafe au lait, zoe"))


def test_two_passwords_at_most_are_hashed_at_once() -> None:
    under_way, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        threading.Event().wait(0.01)
        with lock:
            under_way -= 1

    async def crowd() -> None:
        await asyncio.gather(*(passwords._in_turn(work) for _ in range(10)))

    asyncio.run(crowd())
    assert most == limits.PASSWORDS_AT_ONCE_MAX


def test_a_crowd_of_passwords_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PASSWORDS_WAITING_MAX", 3)
    release = threading.Event()

    async def crowd() -> None:
        waiting = [asyncio.ensure_future(passwords._in_turn(release.wait)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Refuse, match="unavailable"):
            await passwords.matches(None, PASSWORD)
        release.set()
        await asyncio.gather(*waiting)

    asyncio.run(crowd())


# ── what is counted ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::1", True),
        ("no address", "no address", True),
    ],
    ids=["network", "networks", "mapped", "zone", "unknown"],
)
def test_an_address_is_counted_with_its_network(one: str, other: str, same: bool) -> None:
    counted = attempts.of_password_from
    assert (counted(one) == counted(other)) is same


def test_a_form_belongs_to_its_session() -> None:
    token = people.csrf_for("aws_one")
    assert people.csrf_matches("aws_one", token)
    for wrong in (people.csrf_for("aws_other"), token[:-1], "", "é", "\ud800", "aws_one"):
        assert not people.csrf_matches("aws_one", wrong)


# ── the key ──────────────────────────────────────────────────────────────────────────────────


def test_the_key_is_made_once_and_is_private(tmp_path: Path) -> None:
    made = key.load(tmp_path)
    assert len(made) == 32
    assert key.load(tmp_path) == made
    assert stat.S_IMODE((tmp_path / key.FILE).stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [key.FILE]


def test_a_key_others_could_read_is_closed(tmp_path: Path) -> None:
    made = key.load(tmp_path)
    (tmp_path / key.FILE).chmod(0o644)
    assert key.load(tmp_path) == made
    assert stat.S_IMODE((tmp_path / key.FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33], ids=["empty", "short", "long"])
def test_a_damaged_key_is_not_used(tmp_path: Path, content: bytes) -> None:
    (tmp_path / key.FILE).write_bytes(content)
    with pytest.raises(key.KeyDamaged):
        key.load(tmp_path)
    assert (tmp_path / key.FILE).read_bytes() == content


# ── last use ─────────────────────────────────────────────────────────────────────────────────


def last_uses(world: World) -> dict[str, str | None]:
    listed = world.answer(CONNECTIONS, "person:ada").connections
    return {each.connection_id: each.last_used_at for each in listed if each.last_used_at}


def test_last_use_is_written_down_once_a_minute(world: World) -> None:
    used = LastUsed(world.store)
    world.dispatch._used = used.note
    world.answer(CONTEXT, "worker")
    world.answer(CONTEXT, "person:ada")
    assert last_uses(world) == {}
    world.run(used.flush())
    assert last_uses(world) == {"conn_worker": "2023-11-14T22:13:20.000Z"}
    world.now += 60_000
    world.run(used.flush())
    assert last_uses(world) == {"conn_worker": "2023-11-14T22:13:20.000Z"}


def test_a_last_use_that_cannot_be_written_waits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def held(self: Store, work: Any) -> Any:
        raise Held

    used = LastUsed(world.store)
    world.dispatch._used = used.note
    world.answer(CONTEXT, "worker")
    with monkeypatch.context() as trouble:
        trouble.setattr(Store, "transact", held)
        world.run(used.flush())
    world.run(used.flush())
    assert list(last_uses(world)) == ["conn_worker"]
