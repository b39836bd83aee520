"""Inboxes: how they are read, and what they hold at most."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.messages import READ, SEND
from agentworks.rules import limits
from tests.conftest import DAY, MINUTE, World
from tests.mail import REVIEWER, burst, fill, opened, send, texts

# ── reading ──────────────────────────────────────────────────────────────────────────────────


def test_a_mailbox_shows_first_contacts_across_conversations(world: World, golden: Any) -> None:
    send(world, target=REVIEWER, agent_name="worker", message="From worker")
    opened(world, message="From the laptop")
    assert golden == world.call(READ, "reviewer", agent_name="reviewer")


def test_a_reply_goes_to_the_reply_address(world: World, golden: Any) -> None:
    inbox_id = opened(world)
    (first,) = world.answer(READ, "reviewer", agent_name="reviewer").messages
    send(
        world,
        "reviewer",
        inbox_id=first.reply_address,
        agent_name="reviewer",
        message="Review received",
    )
    assert golden == world.call(READ, "laptop", inbox_id=inbox_id, after=1)


def test_an_empty_page_returns_the_cursor_it_was_given(world: World, golden: Any) -> None:
    assert golden == world.call(READ, "reviewer", agent_name="reviewer", after=7)


def test_reading_changes_nothing(world: World) -> None:
    burst(world, 250)
    pages = [world.answer(READ, "reviewer", agent_name="reviewer", limit=100) for _ in range(3)]
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.parametrize("size", [1, 7, 100, 101])
def test_following_the_cursor_shows_every_message_once(world: World, size: int) -> None:
    burst(world, 250)
    seen: list[str] = []
    after = 0
    while True:
        page = world.answer(READ, "reviewer", agent_name="reviewer", after=after, limit=size)
        if not page.messages:
            break
        assert len(page.messages) <= 100
        seen += texts(page)
        after = page.next_cursor
    assert seen == [f"message {number}" for number in range(250)]


def test_a_page_holds_30_messages_unless_told_otherwise(world: World) -> None:
    burst(world, 40)
    assert len(world.answer(READ, "reviewer", agent_name="reviewer").messages) == 30


def test_a_cursor_above_the_head_waits_like_the_head(world: World) -> None:
    burst(world, 1)
    page = world.answer(READ, "reviewer", agent_name="reviewer", after=2**63 - 1)
    assert (page.messages, page.next_cursor) == ([], 2**63 - 1)


@pytest.mark.parametrize("after", [-1, 2**63, 10**30, "1e2", "01", " 1", 1.5, None, True])
def test_a_malformed_cursor_is_refused(world: World, after: Any) -> None:
    refused = world.answer(READ, "reviewer", agent_name="reviewer", after=after)
    assert refused.code == "invalid_input"
    assert "after" in refused.problems[0]


def test_reading_needs_an_inbox_or_a_name(world: World, golden: Any) -> None:
    assert golden == world.call(READ, "reviewer")


def test_an_unknown_inbox_cannot_be_read(world: World, golden: Any) -> None:
    assert golden == world.call(READ, "bob", inbox_id=opened(world))


def test_a_mailbox_of_a_name_that_is_not_yours_is_refused(world: World, golden: Any) -> None:
    assert golden == world.call(READ, "laptop", agent_name="reviewer")


# ── limits ───────────────────────────────────────────────────────────────────────────────────


def test_forty_messages_an_hour_counting_both_directions(world: World, golden: Any) -> None:
    inbox_id = opened(world)
    for number in range(39):
        who = ("reviewer", {"agent_name": "reviewer"}) if number % 2 else ("laptop", {})
        sent = send(world, who[0], inbox_id=inbox_id, message="More", **who[1])
        assert sent.receipt == "stored"
        world.now += MINUTE
    assert golden == world.call(SEND, "laptop", inbox_id=inbox_id, message="Too much")


def test_the_hour_rolls(world: World) -> None:
    inbox_id = opened(world)
    world.now += 30 * MINUTE
    for _ in range(39):
        send(world, "laptop", inbox_id=inbox_id, message="More")
    assert send(world, "laptop", inbox_id=inbox_id, message="No").code == "rate_limited"
    world.now += 30 * MINUTE
    assert send(world, "laptop", inbox_id=inbox_id, message="Yes").receipt == "stored"
    assert send(world, "laptop", inbox_id=inbox_id, message="No").code == "rate_limited"


def test_a_full_inbox_drops_its_oldest_message_and_says_so(world: World) -> None:
    inbox_id = opened(world)
    fill(world, inbox_id)
    assert send(world, "laptop", inbox_id=inbox_id, message="newest").sequence == 1001
    page = world.answer(READ, "reviewer", inbox_id=inbox_id, agent_name="reviewer", after=0)
    assert (page.gap, page.messages[0].sequence) == (True, 2)
    assert not world.answer(READ, "reviewer", inbox_id=inbox_id, agent_name="reviewer", after=1).gap
    mailbox = world.answer(READ, "reviewer", agent_name="reviewer", limit=1)
    assert (mailbox.gap, mailbox.messages[0].sequence) == (True, 2)


def test_an_inbox_whose_oldest_message_is_under_way_is_full(world: World, golden: Any) -> None:
    inbox_id = opened(world)
    fill(world, inbox_id)
    world.transact(lambda tx: tx.run("UPDATE messages SET delivery = 'pending' WHERE sequence = 1"))
    assert golden == world.call(SEND, "laptop", inbox_id=inbox_id, message="One more")


def test_an_idle_inbox_expires_when_another_conversation_begins(world: World, golden: Any) -> None:
    inbox_id = opened(world)
    world.now += 7 * DAY + 1
    opened(world)
    assert golden == world.call(SEND, "laptop", inbox_id=inbox_id, message="Still there?")


def test_an_expired_inbox_cannot_be_read(world: World, golden: Any) -> None:
    inbox_id = opened(world)
    world.now += 7 * DAY + 1
    opened(world)
    assert golden == world.call(READ, "laptop", inbox_id=inbox_id)


def test_an_expired_inbox_is_unknown_to_others_and_after_seven_more_days(world: World) -> None:
    inbox_id = opened(world)
    world.now += 7 * DAY + 1
    opened(world)
    assert world.answer(READ, "bob", inbox_id=inbox_id).code == "not_found"
    world.now += 7 * DAY
    assert world.answer(READ, "laptop", inbox_id=inbox_id).code == "not_found"


def test_a_message_under_way_protects_its_inbox(world: World) -> None:
    inbox_id = opened(world)
    world.transact(lambda tx: tx.run("UPDATE messages SET delivery = 'pending'"))
    world.now += 8 * DAY
    opened(world)
    assert send(world, "laptop", inbox_id=inbox_id, message="Still there?").receipt == "stored"


def test_an_account_keeps_at_most_300_inboxes(world: World) -> None:
    inboxes = []
    for _ in range(301):
        inboxes.append(opened(world))
        world.now += 1
    assert world.answer(READ, "laptop", inbox_id=inboxes[0]).code == "expired"
    assert texts(world.answer(READ, "laptop", inbox_id=inboxes[1])) == []


def test_no_inbox_can_be_made_when_all_are_protected(
    world: World, golden: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INBOXES_PER_STORE_MAX", 1)
    opened(world)
    world.transact(lambda tx: tx.run("UPDATE messages SET delivery = 'pending'"))
    assert golden == world.call(SEND, "laptop", target=REVIEWER, message="Ready?")


def test_the_store_keeps_at_most_2000_inboxes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INBOXES_PER_STORE_MAX", 3)
    inboxes = []
    for _ in range(4):
        inboxes.append(opened(world))
        world.now += 1
    assert [send(world, "laptop", inbox_id=each, message="?").code for each in inboxes[:1]] == [
        "expired"
    ]
