"""The token of a running turn: who acts with it, with whose access, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentworks.contracts.agents import LIST
from agentworks.contracts.functions import CALL
from agentworks.contracts.operation import Caller, CallerKind, Scope
from agentworks.contracts.refusal import RefusalCode
from agentworks.contracts.turns import REPORT_PROGRESS
from agentworks.identity import callers
from agentworks.store import Transaction
from agentworks.tables import turns
from tests.conftest import World
from tests.programs import until
from tests.turning import WAIT, Turning, function, own_chat, program, scripted, status, telling


@pytest.fixture
def turning(world: World, tmp_path: Path) -> Iterator[Turning]:
    yield Turning(world, tmp_path)


def caller_of(turning: Turning, token: str) -> Caller:
    return turning.world.store.read(callers.bearer(f"Bearer {token}"))[0]


def test_a_token_stands_for_the_agent_with_the_access_it_was_launched_with(
    turning: Turning,
) -> None:
    agent_id = turning.crew("Helper", telling("sleep 600"))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        caller = caller_of(turning, await turning.token(asked.call_id))
        assert caller.kind is CallerKind.CREW_BUILDER
        assert (caller.account_id, caller.connection_id) == ("acc_ada", "conn_worker")
        assert (caller.agent_id, caller.label) == (agent_id, "Helper")
        assert (caller.call_id, caller.scopes) == (
            asked.call_id,
            frozenset({Scope.READ, Scope.RUN}),
        )
        assert (caller.bounds, caller.owner, caller.replies_only) == (None, False, False)

    turning.play(scene)


def test_a_guests_turn_is_a_run_turn_that_only_replies(turning: Turning) -> None:
    turning.crew("Helper", telling("sleep 600"), runners=["acc_bob"])

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go", "bob")
        token = await turning.token(asked.call_id, "bob")
        caller = caller_of(turning, token)
        assert (caller.kind, caller.replies_only) == (CallerKind.CREW_RUN, True)
        assert (caller.account_id, caller.connection_id) == ("acc_bob", "conn_bob")
        refused = await turning.act(CALL, token, target="Helper", function="work")
        assert refused.code == RefusalCode.NOT_PERMITTED

    turning.play(scene)


def test_a_typed_function_runs_with_the_owners_role_whoever_calls(turning: Turning) -> None:
    turning.crew("Helper", telling("sleep 600"), offers=[function("work")], runners=["acc_bob"])

    async def scene() -> None:
        called = await turning.call("Helper", "work", "bob")
        caller = caller_of(turning, await turning.token(called.call_id, "bob"))
        assert (caller.kind, caller.replies_only) == (CallerKind.CREW_BUILDER, False)
        assert caller.account_id == "acc_bob"

    turning.play(scene)


def test_a_token_opens_nothing_once_its_turn_has_settled(turning: Turning) -> None:
    turning.crew("Helper", telling(WAIT))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        assert status(await turning.act(LIST, token)) == "agents"
        (turning.folder("Helper") / "go").touch()
        await turning.settled(asked.call_id)
        refused = await turning.act(LIST, token)
        assert refused.code == RefusalCode.NOT_SIGNED_IN

    turning.play(scene)
    assert turning.value("SELECT count(*) FROM turn_tokens") == 0


@pytest.mark.parametrize(
    "loss",
    [
        "UPDATE connections SET revoked_at = 1 WHERE connection_id = 'conn_bob'",
        "UPDATE connections SET targets = 'other' WHERE connection_id = 'conn_bob'",
        "UPDATE accounts SET disabled_at = 1 WHERE account_id = 'acc_bob'",
        "UPDATE members SET role = 'reader'",
    ],
    ids=["connection", "bounds", "account", "role"],
)
def test_a_token_ends_with_the_access_behind_it(turning: Turning, loss: str) -> None:
    turning.crew("Helper", telling("sleep 600"), runners=["acc_bob"])

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go", "bob")
        token = await turning.token(asked.call_id, "bob")
        assert caller_of(turning, token).account_id == "acc_bob"
        await turning.world.store.transact(lambda tx: tx.run(loss))
        assert (await turning.act(LIST, token)).code == RefusalCode.NOT_SIGNED_IN

    turning.play(scene)


def test_bounds_and_scopes_of_the_launch_hold_inside_the_turn(turning: Turning) -> None:
    agent_id = turning.crew("Helper", telling("sleep 600"))
    turning.crew("Other", scripted({"say": "Yes."}))
    sql = "UPDATE connections SET targets = :id, scopes = 'run' WHERE connection_id = 'conn_worker'"
    turning.world.transact(lambda tx: tx.run(sql, id=agent_id))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        await until(lambda: turning.value("SELECT count(*) FROM call_progress") == 1)
        token = turning.value("SELECT line FROM call_progress")
        caller = caller_of(turning, token)
        assert (caller.bounds, caller.scopes) == (frozenset({agent_id}), frozenset({Scope.RUN}))
        refused = await turning.act(CALL, token, target="Other", function="work")
        assert refused.code == RefusalCode.NOT_FOUND
        assert asked.call_id == caller.call_id

    turning.play(scene)


def test_a_code_agent_acts_as_its_owner_in_its_own_chat(turning: Turning) -> None:
    script = "echo $AGENTWORKS_TOKEN > token; " + WAIT
    agent_id = turning.crew("Desk", program(script), kind="code")

    def begin(tx: Transaction) -> None:
        turns.queue(tx, own_chat(tx, agent_id), "trigger", None, "Go.")

    turning.world.transact(begin)

    async def scene() -> None:
        token = turning.folder("Desk") / "token"
        await until(lambda: token.exists() and token.read_text().endswith("\n"))
        caller = caller_of(turning, token.read_text().strip())
        assert (caller.kind, caller.account_id) == (CallerKind.CODE, "acc_ada")
        assert (caller.connection_id, caller.call_id) == ("", "")
        refused = await turning.act(REPORT_PROGRESS, token.read_text().strip(), line="on it")
        assert refused.code == RefusalCode.NOT_PENDING
        (turning.folder("Desk") / "go").touch()
        await turning.idle()

    turning.play(scene)
    assert turning.value("SELECT state FROM turns") == "ended"


def test_reported_progress_is_seen_by_the_caller(turning: Turning) -> None:
    turning.crew("Helper", telling("sleep 600"))

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        reported = await turning.act(REPORT_PROGRESS, token, line="half way")
        assert (reported.call_id, reported.number) == (asked.call_id, 2)
        call = await turning.get(asked.call_id)
        assert [line.line for line in call.progress] == [token, "half way"]

    turning.play(scene)


def test_what_a_turn_does_over_the_network_is_a_sign_of_life(turning: Turning) -> None:
    turning.crew("Helper", telling(WAIT + 'echo \'{"type":"final"}\''), idle_seconds=2)

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        for _ in range(8):
            assert status(await turning.act(LIST, token)) == "agents"
            await turning.pause(0.4)
        assert status(await turning.get(asked.call_id)) == "working"
        (turning.folder("Helper") / "go").touch()
        assert status(await turning.settled(asked.call_id)) == "answered"

    turning.play(scene)


def test_notify_prompts_one_turn_where_the_call_was_made(turning: Turning) -> None:
    script = "cat >> said; [ -e began ] && exit; touch began; "
    line = """echo '{"type":"progress","text":"'$AGENTWORKS_TOKEN'"}'; """
    turning.crew("Helper", program(script + line + WAIT, events="jsonl"))
    turning.crew("Worker", scripted({"say": "done"}), offers=[function("work")])

    async def scene() -> None:
        asked = await turning.ask("Helper", "Go")
        token = await turning.token(asked.call_id)
        args = {"target": "Worker", "function": "work", "notify": True}
        called = await turning.act(CALL, token, **args)
        await until(lambda: turning.value("SELECT count(*) FROM turns") == 3)
        (turning.folder("Helper") / "go").touch()
        await turning.settled(asked.call_id)
        await until(lambda: turning.value("SELECT count(*) FROM turns WHERE ended_at > 0") == 3)
        told = (turning.folder("Helper") / "said").read_text()
        assert f"The call {called.call_id} that you made, work of Worker, is completed." in told

    turning.play(scene)
    sql = "SELECT account_id || ' ' || connection_id FROM turns WHERE cause = 'notify'"
    assert turning.value(sql) == "acc_ada conn_worker"
