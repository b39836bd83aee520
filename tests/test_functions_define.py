"""Functions saved one by one, and runtimes as they are checked when they are saved."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from agentworks.contracts import agents, crews, functions
from agentworks.rules import limits
from agentworks.rules.runtimes import SETTINGS as RUNTIMES
from agentworks.rules.runtimes import STARTS_PROGRAMS, runtime_problems
from agentworks.runners import runtimes
from tests import office
from tests.conftest import World
from tests.office import NOTES, definition, rows

a_world = office.a_world


# ── functions, one by one ────────────────────────────────────────────────────────────────────


def test_a_function_is_added_at_the_end_and_replaced_where_it_stands(
    world: World, golden: Any
) -> None:
    inputs = [{"name": "PR_NUMBER", "type": "integer", "required": True}]
    exchanges = [
        world.call(
            functions.DEFINE,
            "cleo",
            target="PR Reviewer",
            function="close_pr",
            description="Close it.",
            inputs=inputs,
            result_schema={"type": "boolean"},
            allowed_callers=["account:bob"],
            instructions="Politely.",
        ),
        world.call(functions.DEFINE, "cleo", target="PR Reviewer", function="review_pr"),
    ]
    assert golden == exchanges
    saved = definition(world, "ada", "PR Reviewer")["functions"]
    assert [each["name"] for each in saved] == ["review_pr", "merge_pr", "close_pr"]
    assert saved[0] == {"name": "review_pr"}
    assert saved[2]["allowed_callers"] == ["account:acc_bob"]


def test_everything_wrong_with_a_function_is_told_at_once(world: World, golden: Any) -> None:
    before = rows(world)
    assert golden == world.call(
        functions.DEFINE,
        "ada",
        target="PR Reviewer",
        function="Review",
        inputs=[{"name": "A", "type": "date"}, {"nam": "B", "type": "string"}, 5],
        result_schema={"type": "object", "propertys": {}},
        allowed_callers=["bob", "account:nobody"],
    )
    assert rows(world) == before


@pytest.mark.parametrize("schema", [5, "6", [], True])
def test_a_result_schema_is_an_object(world: World, schema: Any) -> None:
    answer = world.answer(
        functions.DEFINE, "ada", target="PR Reviewer", function="f", result_schema=schema
    )
    assert answer.problems[0].startswith("result_schema: must be an object")


def test_a_code_agent_takes_no_functions(world: World) -> None:
    answer = world.answer(functions.DEFINE, "ada", target="Desk", function="f")
    assert answer.code == "invalid_input"


def test_an_agent_has_so_many_functions_and_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FUNCTIONS_PER_AGENT_MAX", 2)
    answer = world.answer(functions.DEFINE, "ada", target="PR Reviewer", function="f")
    assert answer.problems == ["PR Reviewer has 2 functions; no more are allowed"]
    assert not world.answer(
        functions.DEFINE, "ada", target="PR Reviewer", function="merge_pr"
    ).created


def test_a_function_is_removed_and_accepted_calls_go_on(world: World, golden: Any) -> None:
    asked = {"target": "PR Reviewer", "function": "review_pr", "args": {"PR_NUMBER": 7}}
    call_id = world.answer(functions.CALL, "bob", **asked).call_id
    assert golden == world.call(functions.DELETE, "ada", target="PR Reviewer", function="review_pr")
    assert call_id in str(rows(world, "calls"))
    assert world.answer(functions.CALL, "bob", **asked).code == "unknown_function"


def test_a_function_that_is_not_there_is_refused_with_those_that_are(
    world: World, golden: Any
) -> None:
    exchange = world.call(functions.DELETE, "ada", target="PR Reviewer", function="review-pr")
    assert golden == exchange
    assert world.answer(functions.DELETE, "ada", **exchange["answer"]["try"]).function


# ── runtimes: what is checked when saved is what is opened for a turn ────────────────────────

RIGHT = [
    {"name": "command", "argv": ["true"]},
    {"name": "command", "argv": ["./x", "-"], "events": "jsonl", "steer": True, "corrects": False},
    {"name": "python", "file": "a/b.py", "python": "/usr/bin/python3", "steer": True},
    {"name": "scripted", "otherwise": [{"say": "Hi"}], "corrects": False},
    {
        "name": "scripted",
        "rules": [
            {
                "match": "PR ([0-9]+)",
                "steps": [
                    {"progress": "x"},
                    {"call": "agents.list", "args": {"limit": 1}, "as": "a"},
                    {"ask": "Sure?", "schema": {"type": "boolean"}, "as": "b"},
                    {"file": "x.md", "text": "y"},
                    {"sleep": 0.5},
                    {"result": None},
                    {"fail": "no"},
                ],
            }
        ],
    },
]
WRONG = [
    {"name": "nothing"},
    {"name": "command"},
    {"name": "command", "argv": []},
    {"name": "command", "argv": [""]},
    {"name": "command", "argv": ["a\0b"]},
    {"name": "command", "argv": "ls"},
    {"name": "command", "argv": ["a"], "events": "xml"},
    {"name": "command", "argv": ["a"], "steer": True},
    {"name": "command", "argv": ["a"], "shell": True},
    {"name": "python"},
    {"name": "python", "file": ""},
    {"name": "python", "file": "../x.py"},
    {"name": "python", "file": "x.py", "python": "a\0"},
    {"name": "scripted"},
    {"name": "scripted", "rules": []},
    {"name": "scripted", "rules": [{"match": "(a|a)*b", "steps": []}]},
    {"name": "scripted", "rules": [{"match": "(", "steps": [{"say": "x"}]}]},
    {"name": "scripted", "rules": [{"steps": [{"say": "x"}]}]},
    {"name": "scripted", "otherwise": [{}]},
    {"name": "scripted", "otherwise": [{"say": "x", "ask": "y"}]},
    {"name": "scripted", "otherwise": [{"say": "x", "as": "y"}]},
    {"name": "scripted", "otherwise": [{"say": 5}]},
    {"name": "scripted", "otherwise": [{"sleep": True}]},
    {"name": "scripted", "otherwise": [{"sleep": 3_601}]},
    {"name": "scripted", "otherwise": [{"call": "x", "args": []}]},
    {"name": "scripted", "file": "/x"},
]


@pytest.mark.parametrize("runtime", RIGHT + WRONG, ids=lambda each: str(each)[:60])
def test_what_is_saved_is_what_opens(runtime: dict[str, Any], tmp_path: Path) -> None:
    settings = {name: value for name, value in runtime.items() if name != "name"}
    opened = runtimes.problems(str(runtime["name"]), settings, tmp_path)
    assert (runtime_problems(runtime) == []) == (opened == []) == (runtime in RIGHT)


def test_every_runtime_of_this_server_can_be_checked() -> None:
    assert set(RUNTIMES) == set(runtimes.known())
    assert STARTS_PROGRAMS <= set(RUNTIMES)
    for name, declared in RUNTIMES.items():
        settings = importlib.import_module(f"agentworks.runners.runtimes.{name}").Settings
        assert set(declared.__struct_fields__) - {"name"} == set(settings.__struct_fields__)


@pytest.mark.parametrize("given", [5, "command", [], True, {}, {"name": 5}, {"name": ["command"]}])
def test_a_runtime_is_an_object_with_a_name(given: Any) -> None:
    assert runtime_problems(given)


def test_listing_shows_who_can_be_asked(world: World) -> None:
    world.answer(crews.SET_MEMBER, "ada", target=NOTES, account_name="bob", role="runner")
    (shown,) = (
        each for each in world.answer(agents.LIST, "bob").agents if each.name == "Release Notes"
    )
    assert shown.can == ""
