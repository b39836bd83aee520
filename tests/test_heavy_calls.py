"""Calls with very many arguments: judged beforehand, so that nobody else waits for that."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from agentworks import admission
from agentworks.contracts.functions import CALL
from agentworks.rules import weights
from tests import calling
from tests.calling import SOON_SECONDS, Office

an_office = calling.an_office

MANY = ["1"] * (weights.HEAVY_UNITS + 1)
EVERY = {"target": "Pipeline", "function": "every_type"}


@pytest.mark.parametrize(
    "value",
    [
        [0] * weights.HEAVY_UNITS,
        [[0] * 10_000] * 10_000,
        {str(n): n for n in range(weights.HEAVY_UNITS)},
        "x" * 64 * weights.HEAVY_UNITS,
        [["x" * 6_400] * 100] * 3,
        [[[]] * 1_000] * 20,
    ],
)
def test_what_holds_very_much_is_heavy(value: Any) -> None:
    assert weights.heavy(value)


@pytest.mark.parametrize(
    "value", [None, True, 10**400, {}, {"PR_NUMBER": 149}, "x" * 100_000, [0] * 10_000]
)
def test_what_holds_little_is_not(value: Any) -> None:
    assert not weights.heavy(value)


def test_a_heavy_call_is_accepted_like_any_other(office: Office) -> None:
    answer = office.answer(CALL, "laptop", **EVERY, args={"IDS": MANY, "COUNT": "7"})
    kept = office.value("SELECT args FROM calls WHERE call_id = ?", answer.call_id)
    assert kept.startswith('{"COUNT":7,"IDS":[1,1,') and kept.count("1") == len(MANY)


def test_a_heavy_call_is_refused_like_any_other(office: Office) -> None:
    wrong: dict[str, Any] = {"IDS": MANY, "COUNT": "x", "FLAG": 1}
    answer = office.answer(CALL, "laptop", **EVERY, args=wrong)
    assert answer.problems == [
        'COUNT must be an integer (got "x")',
        "FLAG must be a boolean (got 1)",
    ]
    assert answer.placeholders == ["args.COUNT", "args.FLAG"]
    assert office.answer(CALL, "laptop", **answer.try_).call_id
    assert office.answer(CALL, "laptop", target="Nowhere", function="x", args=wrong).code == (
        "not_found"
    )
    assert office.answer(CALL, "cleo", **EVERY, args=wrong).code == "not_permitted"
    unread = office.answer(CALL, "laptop", **EVERY, args=wrong, colour="red")
    assert unread.problems == ['unknown input "colour"']


def test_a_heavy_call_is_found_again_in_another_spelling(office: Office) -> None:
    call_id = office.answer(CALL, "laptop", **EVERY, args={"IDS": MANY}, submission_id="s").call_id
    ints = {"IDS": [1.0] * len(MANY)}
    again = office.answer(CALL, "laptop", **EVERY, args=ints, submission_id="s")
    assert again.call_id == call_id
    other = office.answer(CALL, "laptop", **EVERY, args={"IDS": MANY[1:]}, submission_id="s")
    assert other.code == "submission_conflict"


def test_others_are_served_while_a_heavy_call_is_judged(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    judged = admission._study

    def slowly(*what: Any) -> Any:
        begun.set()
        assert may_end.wait(SOON_SECONDS)
        return judged(*what)

    monkeypatch.setattr(admission, "_study", slowly)

    async def scene() -> tuple[Any, Any]:
        given = EVERY | {"args": {"IDS": MANY}}
        dispatch: Any = office.dispatch
        heavy = asyncio.ensure_future(dispatch(CALL, office.who("laptop"), given))
        async with asyncio.timeout(SOON_SECONDS):
            await asyncio.to_thread(begun.wait)
            light = await dispatch(CALL, office.who("laptop"), EVERY)
        assert not heavy.done()
        may_end.set()
        return light, await heavy

    light, heavy = office.run(scene())
    assert light.call_id == "call_1" and heavy.call_id == "call_2"


def test_a_function_that_changes_meanwhile_judges_anew(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = admission._study
    change = "UPDATE functions SET inputs = '[]' WHERE name = 'every_type'"

    async def scene() -> Any:
        loop = asyncio.get_running_loop()

        def meanwhile(*what: Any) -> Any:
            done = office.store.transact(lambda tx: tx.run(change))
            asyncio.run_coroutine_threadsafe(done, loop).result(SOON_SECONDS)
            return judged(*what)

        monkeypatch.setattr(admission, "_study", meanwhile)
        return await office.dispatch(CALL, office.who("laptop"), EVERY | {"args": {"IDS": MANY}})

    assert office.run(scene()).problems == ["unknown input IDS"]
