"""A refusal on the command line: every problem, and the corrected call as a command to paste."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Annotated, Any, cast

import click
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from agentworks.contracts.messages import READ, REGISTER, SEND
from agentworks.contracts.operation import OUTSIDE, Operation
from cli.commands import command_for
from cli.corrected import command_line, quoted
from cli.options import args_from
from cli.render import visible
from cli.values import json_value
from tests import cli_world
from tests.cli_world import ACCEPTED, Given, Hand, StandIn

AnyOperation = Operation[Any, Any]

a_server, a_hand = cli_world.a_server, cli_world.a_hand


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────


def test_a_refusal_prints_every_problem_and_the_corrected_command(
    server: StandIn, hand: Hand
) -> None:
    server.rule = lambda asked: Given(
        400,
        {
            "status": "refused",
            "code": "invalid_input",
            "problems": ["agent_name is needed:\x1b two ends", "second"],
            "try": {**asked.json, "agent_name": "worker"},
            "placeholders": ["agent_name"],
            "retry_at": "2026-12-01T09:30:00.000Z",
        },
    )
    url = f"{server.url}/"
    done = hand.run("--server", url, "messages", "send", "--inbox", "i", "--message", "it's $x")
    assert (done.code, done.out) == (3, "")
    assert done.err.split("\n") == [
        "refused: invalid_input",
        "  - agent_name is needed:\\x1b two ends",
        "  - second",
        "  retry_at  2026-12-01T09:30:00.000Z",
        "try:",
        f"  agentworks --server {url} messages send --message 'it'\"'\"'s $x' --inbox i"
        " --agent worker",
        "  with your own value for: agent_name",
        "",
    ]


def test_the_corrected_command_can_be_pasted(server: StandIn, hand: Hand) -> None:
    text = "-n it's $x\nsecond \\ line\t!"
    for message in (text, "-"):
        made = {"message": message, "target": "agent:r"}
        refused = {"status": "refused", "code": "invalid_input", "problems": ["x"], "try": made}
        server.queue = [Given(400, refused), Given(200, ACCEPTED)]
        shown = hand.run("messages", "send", "--message", "x")
        pasted = hand.shell(shown.err.split("try:\n  ")[1])
        assert (shown.code, pasted.code, server.asked[-1].json["message"]) == (3, 0, message)


def test_a_submission_id_is_shown_again_only_if_it_was_given(server: StandIn, hand: Hand) -> None:
    server.rule = lambda asked: Given(
        400, {"status": "refused", "code": "invalid_input", "problems": [], "try": asked.json}
    )
    start = ("messages", "send", "--target", "x", "--message", "hi")
    assert "--submission-id" not in hand.run(*start).err
    assert "--submission-id s-1\n" in hand.run(*start, "--submission-id", "s-1").err


def test_a_refusal_says_how_to_sign_in(server: StandIn, hand: Hand, tmp_path: Path) -> None:
    refused = {"status": "refused", "code": "not_signed_in", "problems": ["no live credential"]}
    server.rule = lambda asked: Given(401, refused)
    file = str(tmp_path / "a b.json")
    done = hand.run("--config", file, "messages", "list", env={"AGENTWORKS_TOKEN": ""})
    assert done.code == 4 and f"agentworks --config '{file}' login" in done.err
    assert server.asked[0].token == ""


texts = some.text(some.characters(exclude_characters="\0", exclude_categories=["Cs"]))
sends = some.fixed_dictionaries(
    {"message": texts.filter(lambda text: text != "-")},
    optional={"target": texts, "inbox_id": texts, "agent_name": texts, "submission_id": texts},
)
reads = some.fixed_dictionaries(
    {}, optional={"inbox_id": texts, "after": some.integers(), "wait_seconds": some.integers()}
)
registers = some.fixed_dictionaries(
    {"agent_name": texts}, optional={"allowed_connection_ids": some.lists(texts, max_size=3)}
)
calls = some.one_of(
    some.tuples(some.just(SEND), sends),
    some.tuples(some.just(READ), reads),
    some.tuples(some.just(REGISTER), registers),
)


def parsed(operation: AnyOperation, words: list[str]) -> dict[str, Any]:
    """The arguments that the command line reads from words."""
    command = command_for(operation, "x")
    context = command.make_context("x", words)
    context.params.pop("as_json")
    sent = msgspec.json.encode(args_from(operation.request, context.params))
    return cast(dict[str, Any], msgspec.json.decode(sent))


def in_a_shell(line: str) -> list[str]:
    """The words bash makes of a line."""
    ran = subprocess.run(
        ["bash", "-c", f"agentworks() {{ printf '%s\\0' \"$@\"; }}; {line}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8"},
    )
    return ran.stdout.decode().split("\0")[:-1]


@settings(deadline=None, max_examples=60)
@given(calls)
def test_a_command_line_is_read_back_as_the_same_call(
    call: tuple[AnyOperation, dict[str, Any]],
) -> None:
    operation, args = call
    words = in_a_shell(command_line(operation, args, ["--config", "a b"]))
    assert words[:4] == ["--config", "a b", *(operation.cli or "").split()]
    assert parsed(operation, words[4:]) == args


@settings(deadline=None)
@given(texts)
def test_what_is_printed_for_a_person_holds_nothing_unseen(text: str) -> None:
    for shown in (visible(text), quoted(text)):
        assert not any(
            "\x7f" <= each < "\xa0" or (each < " " and each not in "\n\t") for each in shown
        )


# ── Forms that operations to come declare ────────────────────────────────────────────────────


class Ask(Struct, forbid_unknown_fields=True, kw_only=True):
    target: Annotated[str, Meta(extra={"cli": "TARGET"})]
    message: Annotated[str, Meta(max_length=20_000, extra={"cli": "MESSAGE"})]
    args: Annotated[dict[str, Any] | UnsetType, Meta(extra={"pairs": "arg"})] = UNSET
    new: Annotated[bool | UnsetType, Meta(description="Begin anew.")] = UNSET


class Asked(Struct):
    status: str


ASK: Operation[Ask, Asked] = Operation(
    name="agents.ask",
    about="Ask.",
    request=Ask,
    answers=(Asked,),
    scope=None,
    offered_to=OUTSIDE,
    http="POST /api/asks",
    cli="ask",
)


def test_positional_inputs_flags_json_and_pairs() -> None:
    big = '{"id": 9007199254740993123, "x": 1.10}'
    words = ["--new", "--args", big, "--arg", "n=1=2", "--arg", "e=", "--", "Pipeline", "-n?"]
    context = command_for(ASK, "ask").make_context("ask", words)
    found = args_from(Ask, context.params)
    assert {name: bytes(value) for name, value in found["args"].items() if name in "idx"} == {
        "id": b"9007199254740993123",
        "x": b"1.10",
    }
    assert {**found, "args": {name: found["args"][name] for name in "ne"}} == {
        "target": "Pipeline",
        "message": "-n?",
        "new": True,
        "args": {"n": "1=2", "e": ""},
    }
    call = {"target": "a b", "message": "-n?", "args": {"n": [1, None]}, "new": False}
    line = command_line(ASK, call, [])
    assert line == "agentworks ask --args '{\"n\":[1,null]}' --no-new -- 'a b' '-n?'"
    assert command_line(ASK, {"unknown": 1}, []) == ""
    assert parsed(ASK, shlex.split(line)[2:]) == call


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--args", '{"a":1,"a":2}'], "the same key twice: 'a'"),
        (["--args", '{"a":NaN}'], "NaN is no JSON number"),
        (["--args", "{a:1}"], "is not JSON"),
        (["--args", "[" * 100_000], "depth"),
        (["--args", "[1]", "--arg", "a=1"], "is not an object"),
        (["--arg", "a"], "needs NAME=VALUE"),
        (["--args", '{"a":1}', "--arg", "a=2"], "'a' is given twice"),
        (["--arg", "a=1", "--arg", "a=2"], "'a' is given twice"),
    ],
)
def test_json_is_read_strictly(words: list[str], problem: str) -> None:
    with pytest.raises(click.UsageError) as wrong:
        context = command_for(ASK, "ask").make_context("ask", ["x", "y", *words])
        args_from(Ask, context.params)
    assert problem in wrong.value.format_message()


def test_json_keeps_every_digit() -> None:
    assert json_value('{"a": 1.10e400, "b": 123456789012345678901234567890}') == Raw(
        b'{"a": 1.10e400, "b": 123456789012345678901234567890}'
    )
