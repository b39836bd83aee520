"""A definition is judged whole: every problem at once, every name looked up, nothing half saved."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from agentworks.contracts import crews
from agentworks.contracts.crews import Applied
from agentworks.contracts.refusal import Refused
from tests import office
from tests.authored import functions as made_up_inputs
from tests.conftest import World
from tests.made_up import json_values
from tests.office import (
    REVIEWER,
    VAULT,
    apply,
    crew,
    definition,
    file,
    full,
    problems,
    rows,
)

a_world = office.a_world


# ── everything wrong at once ─────────────────────────────────────────────────────────────────

WRONG = {
    "name": "\x1b!",
    "about": "x" * 2_001,
    "kind": "robot",
    "instructions": 5,
    "idle_minutes": 0,
    "runtime": {"name": "command", "argv": [], "shell": True},
    "members": {"bob": "god", "nobody": "reader"},
    "functons": [],
    "functions": [
        {
            "name": "Review",
            "inputs": [
                {"name": "PR", "type": "int"},
                {"nmae": "X", "type": "string"},
                {"name": "N", "type": "integer", "default": "3"},
            ],
            "result_schema": {"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}},
            "allowed_callers": ["crew:nobody", "bob"],
        },
        "review",
        {"name": "ask"},
    ],
    "triggers": [{"id": "Not this"}, {"id": "x", "conversation": "mine"}],
}


def test_everything_wrong_is_told_at_once_with_its_place(world: World, golden: Any) -> None:
    before = rows(world)
    files = [file("../x", "a"), file("b", "?", encoding="base64")]
    exchange = world.call(crews.APPLY, "ada", definition=WRONG, files=files)
    exchange["call"]["with"]["definition"] = WRONG | {"about": "2,001 times x"}
    assert golden == exchange
    assert rows(world) == before


@pytest.mark.parametrize("given_as", [None, 5, "crew", [], True])
def test_a_definition_is_an_object(world: World, given_as: Any) -> None:
    assert problems(world, "ada", given_as)[0].startswith("the definition must be an object")


def test_a_definition_has_1_mib_at_most(world: World) -> None:
    large = crew(functions=[{"name": f"f{n}", "instructions": "x" * 90_000} for n in range(12)])
    assert problems(world, "ada", large) == [
        "the definition has 1,080,469 bytes; at most 1,048,576 are allowed"
    ]


def test_very_many_problems_are_told_in_part(world: World) -> None:
    told = problems(world, "ada", crew(about=5, functions=[{"name": "F", "x": 1}] * 90))
    assert len(told) == 101
    assert told[-1] == "and more"


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"functions": [{"name": f"f{n}"} for n in range(101)]}, "functions has 101"),
        ({"triggers": [{"id": f"t{n}"} for n in range(101)]}, "triggers has 101"),
        ({"members": {f"m{n}": "reader" for n in range(101)}}, "members has 101"),
        ({"instructions": "x" * 100_001}, "instructions has 100,001 characters"),
        ({"idle_minutes": True}, "idle_minutes must be an integer"),
        ({"idle_minutes": 1_441}, "idle_minutes must be 1 to 1,440"),
        ({"runtime": {"name": "claude"}}, "runtime.name must be one of: command, python, scripted"),
        ({"runtime": {}}, "runtime.name must be one of"),
        ({"runtime": {"name": "scripted"}}, "runtime must have rules or otherwise"),
        ({"runtime": {"name": "scripted", "file": "no.toml"}}, "runtime.file no.toml is not among"),
        ({"runtime": {"name": "python", "file": "../x.py"}}, "runtime.file must not have a part"),
        ({"functions": [{"name": "f"}, {"name": "f"}]}, 'functions[1].name "f" is taken'),
        ({"kind": "code", "functions": [{"name": "f"}]}, "functions must be left out"),
        ({"kind": "code", "members": {"bob": "reader"}}, "members must be left out"),
        ({"members": {"ada": "reader"}}, "members.ada owns this agent"),
        ({"members": {"bob": "reader", "BOB": "runner"}}, "members.BOB is there twice"),
    ],
)
def test_a_wrong_part_is_refused(world: World, more: dict[str, Any], problem: str) -> None:
    apply(world, "ada", crew())
    assert any(each.startswith(problem) for each in problems(world, "ada", crew(**more)))


def test_a_kind_cannot_change(world: World) -> None:
    apply(world, "ada", crew())
    assert problems(world, "ada", crew(kind="code")) == ["kind cannot change: Helpdesk is a crew"]


def test_a_name_of_another_agent_of_the_owner_is_taken(world: World) -> None:
    apply(world, "ada", crew())
    assert problems(world, "ada", crew("pr reviewer"), target="Helpdesk") == [
        "name pr reviewer is taken by another agent of the same owner"
    ]
    cleos = definition(world, "cleo", "PR Reviewer") | {"name": "Release-Notes"}
    assert problems(world, "cleo", cleos, target="PR Reviewer") == [
        "name Release-Notes is taken by another agent of the same owner"
    ]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.dictionaries(some.sampled_from([*full(), "x", "Name"]), json_values, max_size=6))
def test_any_json_is_judged_and_nothing_is_half_saved(world: World, given: Any) -> None:
    before = rows(world)
    answer = world.answer(crews.APPLY, "bob", definition=given, dry_run=True)
    assert isinstance(answer, Applied | Refused)
    if isinstance(answer, Refused):
        assert answer.problems
    assert rows(world) == before


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made_up_inputs())
def test_whatever_may_be_saved_comes_back_as_it_was(world: World, given: Any) -> None:
    made = crew(functions=[{"name": "f", "inputs": msgspec.to_builtins(given)}])
    apply(world, "bob", made)
    assert apply(world, "bob", definition(world, "bob", "Helpdesk")).changes == []


# ── JSON within TOML ─────────────────────────────────────────────────────────────────────────


def test_inputs_schemas_and_runtimes_may_be_json_texts(world: World) -> None:
    apply(
        world,
        "ada",
        crew(
            runtime='{"name":"scripted","otherwise":[{"result":null}]}',
            functions=[
                {
                    "name": "f",
                    "inputs": '[{"name":"A","type":"string","nullable":true,"default":null}]',
                    "result_schema": '{"enum":[null]}',
                }
            ],
        ),
    )
    saved = definition(world, "ada", "Helpdesk")
    assert saved["runtime"]["otherwise"] == [{"result": None}]
    assert saved["functions"][0]["inputs"][0]["default"] is None
    assert saved["functions"][0]["result_schema"] == {"enum": [None]}


def test_a_definition_may_be_a_json_text_itself(world: World) -> None:
    assert apply(world, "ada", '{"name": "Helpdesk"}').name == "Helpdesk"
    assert problems(world, "ada", '{"name": "Helpdesk", "name": "Other"}')
    assert problems(world, "ada", "[]")


def test_a_json_text_that_is_none_is_told_by_its_place(world: World) -> None:
    told = problems(
        world,
        "ada",
        crew(
            runtime="{", functions=[{"name": "f", "inputs": '{"a":1,"a":2}', "result_schema": "3"}]
        ),
    )
    assert [each.split(" ")[0].rstrip(":") for each in told] == [
        "runtime",
        "functions[0].inputs",
        "functions[0].result_schema",
    ]


# ── who is meant ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("account:bob", "account:acc_bob"),
        ("account:acc_bob", "account:acc_bob"),
        (f"crew:{REVIEWER}", f"crew:{REVIEWER}"),
        ("crew:pr reviewer", f"crew:{REVIEWER}"),
        (f"crew:{VAULT}", f"crew:{VAULT}"),  # its owner has told Ada the id; a name tells nothing
        ("connection:conn_bob", "connection:conn_bob"),
    ],
)
def test_callers_are_kept_by_their_ids(world: World, written: str, kept: str) -> None:
    made = crew(functions=[{"name": "f", "allowed_callers": [written]}])
    apply(world, "ada", made)
    assert definition(world, "ada", "Helpdesk")["functions"][0]["allowed_callers"] == [kept]
    assert apply(world, "ada", made).changes == []


@pytest.mark.parametrize(
    "written",
    [
        "account:nobody",
        "crew:Vault",
        "crew:latency",
        "crew:Desk",
        "workflow:wf_1",
        f"workflow:{REVIEWER}",
        "connection:conn_x",
    ],
)
def test_callers_that_are_nobody_are_refused(world: World, written: str) -> None:
    assert problems(
        world, "ada", crew(functions=[{"name": "f", "allowed_callers": [written]}])
    ) == [f'functions[0].allowed_callers[0] names nobody here (got "{written}")']


def test_a_caller_that_is_gone_may_stay_where_it_was(world: World) -> None:
    made = crew(functions=[{"name": "f", "allowed_callers": [f"crew:{VAULT}"]}])
    apply(world, "ada", made)
    world.answer(crews.DELETE, "bob", target="Vault")
    assert apply(world, "ada", made).changes == []
    made["functions"].append({"name": "g", "allowed_callers": [f"crew:{VAULT}0"]})
    assert len(problems(world, "ada", made)) == 1


def test_one_caller_written_in_two_ways_is_one(world: World) -> None:
    apply(
        world,
        "ada",
        crew(functions=[{"name": "f", "allowed_callers": ["account:bob", "account:acc_bob"]}]),
    )
    saved = definition(world, "ada", "Helpdesk")
    assert saved["functions"][0]["allowed_callers"] == ["account:acc_bob"]


def test_members_are_kept_as_their_accounts_are_written(world: World) -> None:
    apply(world, "ada", crew(members={"BOB": "reader"}))
    assert definition(world, "ada", "Helpdesk")["members"] == {"bob": "reader"}
