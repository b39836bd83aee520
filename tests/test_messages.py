"""Sending: each test is one sentence of the contract, told as an exchange."""

from __future__ import annotations

from typing import Any

import pytest

from agentworks.contracts.messages import READ, SEND, SEND_BATCH
from tests.conftest import World
from tests.mail import REVIEWER, opened, send, texts

# ── sending ──────────────────────────────────────────────────────────────────────────────────


def test_a_first_message_opens_a_conversation(world: World, golden: Any) -> None:
    assert golden == world.call(SEND, "laptop", target=REVIEWER, message="Ready for review")


def test_a_named_sender_is_named(world: World, golden: Any) -> None:
    send(world, target=REVIEWER, agent_name="worker", message="Ready for review")
    assert golden == world.call(READ, "reviewer", agent_name="reviewer")


def test_an_unnamed_sender_opens_a_new_inbox_each_time(world: World) -> None:
    assert opened(world) != opened(world)


def test_two_named_agents_continue_their_one_conversation_from_either_end(world: World) -> None:
    first = send(world, target=REVIEWER, agent_name="worker", message="One")
    second = send(world, "reviewer", target="agent:worker", agent_name="reviewer", message="Two")
    third = send(world, target="agent:Reviewer", agent_name="WORKER", message="Three")
    assert first.inbox_id == second.inbox_id == third.inbox_id
    assert [first.sequence, second.sequence, third.sequence] == [1, 2, 3]


def test_a_message_is_kept_byte_for_byte(world: World) -> None:
    for text in (
        " ",
        "\n",
        "e\u0301",
        "\U0001f600",
        "\x1b[31m",
        "-n is broken",
        "$(x) 'q' \"d\"\r\n",
    ):
        inbox_id = opened(world, message=text)
        assert texts(world.answer(READ, "reviewer", inbox_id=inbox_id, agent_name="reviewer")) == [
            text
        ]


def test_length_is_counted_in_characters_not_bytes(world: World, golden: Any) -> None:
    assert send(world, target=REVIEWER, message="\U0001f600" * 20_000).receipt == "stored"
    too_long = world.call(SEND, "worker", target=REVIEWER, message="\U0001f600" * 20_001)
    too_long["call"]["with"]["message"] = "20,001 times U+1F600"
    assert golden == too_long


def test_a_combining_pair_counts_as_two_characters(world: World) -> None:
    refused = send(world, target=REVIEWER, message="e\u0301" * 20_000)
    assert refused.problems == ["message has 40,000 characters; at most 20,000 are allowed"]


def test_a_message_without_a_destination_is_refused(world: World, golden: Any) -> None:
    assert golden == world.call(SEND, "worker", agent_name="worker", message="Ready?")


def test_a_message_with_two_destinations_is_refused(world: World, golden: Any) -> None:
    inbox_id = opened(world)
    assert golden == world.call(
        SEND, "laptop", target="agent:worker", inbox_id=inbox_id, message="Ready?"
    )


def test_an_unknown_agent_is_refused_with_the_names_there_are(world: World, golden: Any) -> None:
    assert golden == world.call(SEND, "worker", target="agent:revewer", message="Ready?")


def test_a_name_without_its_prefix_is_refused_with_the_address(world: World, golden: Any) -> None:
    assert golden == world.call(SEND, "worker", target="Reviewer", message="Ready?")


def test_agents_of_another_account_do_not_exist(world: World, golden: Any) -> None:
    assert golden == world.call(SEND, "bob", target=REVIEWER, message="Ready?")


def test_an_inbox_of_another_account_does_not_exist(world: World, golden: Any) -> None:
    inbox_id = opened(world)
    theirs = world.call(SEND, "bob", inbox_id=inbox_id, message="Let me in")
    nobodys = world.call(SEND, "bob", inbox_id="inbox_9", message="Let me in")
    assert theirs["answer"]["code"] == nobodys["answer"]["code"] == "not_found"
    assert golden == theirs


def test_a_connection_that_is_not_allowed_a_name_cannot_speak_with_it(
    world: World, golden: Any
) -> None:
    assert golden == world.call(
        SEND, "laptop", target=REVIEWER, agent_name="worker", message="I am the worker"
    )


def test_an_agent_cannot_write_to_itself(world: World, golden: Any) -> None:
    assert golden == world.call(
        SEND, "reviewer", target=REVIEWER, agent_name="reviewer", message="Me"
    )


def test_every_problem_is_named_at_once(world: World, golden: Any) -> None:
    assert golden == world.call(SEND, "worker", message="", taget=REVIEWER, agent_name="no name")


def test_following_the_corrected_call_is_accepted(world: World) -> None:
    for wrong in (
        {"message": "Hi", "agent_name": "worker"},
        {"mesage": "Hi", "target": REVIEWER},
        {"message": "Hi", "target": "reviewer"},
        {"target": REVIEWER},
    ):
        refused = send(world, **wrong)
        assert refused.try_ is not None, wrong
        assert send(world, **refused.try_).receipt == "stored", wrong


# ── which end speaks ─────────────────────────────────────────────────────────────────────────


def test_the_only_end_a_connection_may_use_speaks(world: World) -> None:
    inbox_id = send(world, target=REVIEWER, agent_name="worker", message="One").inbox_id
    send(world, "reviewer", inbox_id=inbox_id, message="Two")
    assert texts(world.answer(READ, "worker", inbox_id=inbox_id)) == ["Two"]
    assert texts(world.answer(READ, "reviewer", inbox_id=inbox_id)) == ["One"]


def test_a_connection_that_may_use_both_ends_must_say_which(world: World, golden: Any) -> None:
    both_names(world)
    inbox_id = send(world, "laptop", target=REVIEWER, agent_name="worker", message="1").inbox_id
    exchange = world.call(SEND, "laptop", inbox_id=inbox_id, message="Two")
    assert golden == exchange
    assert send(world, "laptop", **exchange["answer"]["try"]).sequence == 2


def test_a_reader_that_may_use_both_ends_must_say_which(world: World, golden: Any) -> None:
    both_names(world)
    inbox_id = send(world, "laptop", target=REVIEWER, agent_name="worker", message="1").inbox_id
    assert golden == world.call(READ, "laptop", inbox_id=inbox_id)


def test_who_opened_an_inbox_without_a_name_reads_it_without_a_name(world: World) -> None:
    both_names(world)
    inbox_id = opened(world)
    send(world, "laptop", inbox_id=inbox_id, agent_name="reviewer", message="Here")
    assert texts(world.answer(READ, "laptop", inbox_id=inbox_id)) == ["Here"]


def test_a_name_that_is_no_end_of_the_conversation_cannot_speak_there(
    world: World, golden: Any
) -> None:
    both_names(world)
    inbox_id = opened(world)
    assert golden == world.call(
        SEND, "laptop", inbox_id=inbox_id, agent_name="worker", message="Psst"
    )


def both_names(world: World) -> None:
    world.transact(
        lambda tx: tx.run(
            "INSERT INTO registration_connections VALUES "
            "('reg_worker', 'conn_laptop'), ('reg_reviewer', 'conn_laptop')"
        )
    )


# ── retries ──────────────────────────────────────────────────────────────────────────────────


def test_a_retry_gets_the_same_receipt_and_counts_once(world: World) -> None:
    one = {"target": REVIEWER, "message": "build 41 ready", "submission_id": "s-1"}
    first = send(world, "laptop", **one)
    for _ in range(50):
        assert send(world, "laptop", **one) == first
    page = world.answer(READ, "reviewer", agent_name="reviewer")
    assert texts(page) == ["build 41 ready"]


@pytest.mark.parametrize("changed", [{"message": "build 42 ready"}, {"target": "agent:worker"}])
def test_a_reused_submission_id_is_refused(world: World, golden: Any, changed: Any) -> None:
    one = {"target": REVIEWER, "message": "build 41 ready", "submission_id": "s-1"}
    first = send(world, "laptop", **one)
    assert golden == world.call(SEND, "laptop", **one | changed)
    assert send(world, "laptop", **one) == first


def test_a_refused_message_leaves_its_submission_id_free(world: World) -> None:
    assert send(world, target="agent:nobody", message="Hi", submission_id="s-1").code == "not_found"
    assert send(world, target=REVIEWER, message="Hi", submission_id="s-1").receipt == "stored"


def test_accounts_do_not_share_submission_ids(world: World) -> None:
    first = send(world, target=REVIEWER, message="Hi", submission_id="s-1")
    other = send(world, "bob", target=REVIEWER, message="Hi", submission_id="s-1")
    assert first.receipt == "stored"
    assert other.code == "not_found"


def test_a_retry_finds_its_receipt_after_the_name_is_gone(world: World) -> None:
    one = {"target": REVIEWER, "message": "Hi", "submission_id": "s-1"}
    first = send(world, "laptop", **one)
    world.transact(
        lambda tx: tx.run("DELETE FROM registrations WHERE registration_id = 'reg_reviewer'")
    )
    assert send(world, "laptop", **one) == first


# ── batches ──────────────────────────────────────────────────────────────────────────────────


def test_a_batch_is_judged_message_by_message(world: World, golden: Any) -> None:
    assert golden == world.call(
        SEND_BATCH,
        "laptop",
        messages=[
            {"target": REVIEWER, "message": "One", "submission_id": "b-1"},
            {"target": "agent:nobody", "message": "Two"},
            {"target": REVIEWER, "message": ""},
            "Four",
            {"target": REVIEWER, "message": "One", "submission_id": "b-1"},
            {"target": REVIEWER, "message": "Changed", "submission_id": "b-1"},
        ],
    )


def test_a_message_of_a_batch_can_be_retried_alone(world: World) -> None:
    one = {"target": REVIEWER, "message": "One", "submission_id": "b-1"}
    (receipt,) = world.answer(SEND_BATCH, "laptop", messages=[one]).receipts
    assert send(world, "laptop", **one) == receipt


def test_a_batch_holds_at_most_50_messages(world: World, golden: Any) -> None:
    exchange = world.call(
        SEND_BATCH, "laptop", messages=[{"target": REVIEWER, "message": str(n)} for n in range(51)]
    )
    exchange["call"]["with"]["messages"] = "51 messages"
    assert golden == exchange


# ── bounds ───────────────────────────────────────────────────────────────────────────────────


def bound(world: World, targets: str) -> None:
    """The laptop's connection may reach only these ids."""
    world.transact(
        lambda tx: tx.run(
            "UPDATE connections SET targets = :targets WHERE connection_id = 'conn_laptop'",
            targets=targets,
        )
    )


def test_a_bound_connection_reaches_the_agents_it_is_bound_to(world: World) -> None:
    bound(world, "reg_reviewer")
    inbox_id = opened(world)
    assert world.answer(READ, "laptop", inbox_id=inbox_id).messages == []


def test_an_agent_outside_the_bounds_does_not_exist(world: World, golden: Any) -> None:
    bound(world, "reg_worker")
    assert golden == world.call(SEND, "laptop", target=REVIEWER, message="Ready?")


def test_bounds_that_narrow_close_the_conversations_outside_them(world: World) -> None:
    inbox_id = opened(world)
    bound(world, "reg_worker")
    assert send(world, "laptop", inbox_id=inbox_id, message="Still there?").code == "not_found"
    assert world.answer(READ, "laptop", inbox_id=inbox_id).code == "not_found"
