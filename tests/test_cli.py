"""The command line: what is typed arrives, and everything that can be said is in the tree."""

from __future__ import annotations

import json
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

from agentworks import __version__
from agentworks.contracts import PROTOCOL
from cli.commands import LOCAL, tree
from cli.options import inputs_of
from cli.values import words_of
from tests import cli_world
from tests.cli_world import Hand, StandIn

a_server, a_hand = cli_world.a_server, cli_world.a_hand


# ── What is typed ────────────────────────────────────────────────────────────────────────────

AS_THE_SEED_SHOWS = [
    (
        "agentworks messages register --agent reviewer",
        "POST /api/messages/agents",
        {"agent_name": "reviewer"},
    ),
    ("agentworks messages list", "GET /api/messages/agents", None),
    (
        "agentworks messages send --agent worker --target agent:reviewer "
        "--message 'Ready for review'",
        "POST /api/messages",
        {"message": "Ready for review", "target": "agent:reviewer", "agent_name": "worker"},
    ),
    (
        "agentworks messages read --agent reviewer --after 0 --wait 25",
        "GET /api/messages?agent_name=reviewer&after=0&wait_seconds=25",
        None,
    ),
    (
        "agentworks messages send --agent reviewer --inbox inbox-example "
        "--message 'Review received'",
        "POST /api/messages",
        {"message": "Review received", "inbox_id": "inbox-example", "agent_name": "reviewer"},
    ),
    (
        "agentworks messages unregister --agent reviewer",
        "DELETE /api/messages/agents/reviewer",
        None,
    ),
    (
        "agentworks messages register --agent reviewer --allow-connection conn_2",
        "POST /api/messages/agents",
        {"agent_name": "reviewer", "allowed_connection_ids": ["conn_2"]},
    ),
    ("agentworks guidance context", "GET /api/context", None),
]


@pytest.mark.parametrize(
    ("line", "request_line", "body"), AS_THE_SEED_SHOWS, ids=[each[0] for each in AS_THE_SEED_SHOWS]
)
def test_each_command_of_the_seed_works_as_it_is_written(
    server: StandIn, hand: Hand, line: str, request_line: str, body: object
) -> None:
    done = hand.shell(line)
    assert (done.code, done.err) == (0, "")
    (asked,) = server.asked
    assert (f"{asked.method} {asked.path}", asked.token) == (request_line, "token-worker")
    sent = json.loads(asked.body) if asked.body else None
    if isinstance(sent, dict):
        sent.pop("submission_id", None)
    assert sent == body


WORDS = [
    "-n is broken",
    "--help",
    "",
    " ",
    "$(x) `y` \"z\" 'w'",
    "a\nb\n",
    "=",
    "é\U0001f600",
    "--",
]


@pytest.mark.parametrize("word", WORDS, ids=[ascii(word) for word in WORDS])
def test_a_message_arrives_as_it_was_typed(server: StandIn, hand: Hand, word: str) -> None:
    hand.run("messages", "send", "--target", "x", "--message", word)
    hand.run("messages", "send", "--target", "x", f"--message={word}")
    assert [asked.json["message"] for asked in server.asked] == [word, word]


@pytest.mark.parametrize("raw", [b"a\n", b"a", b"\n", b"\xff" * 0 + b"a\r\n\n", b"x" * 150_000])
def test_a_dash_reads_standard_input_exactly(server: StandIn, hand: Hand, raw: bytes) -> None:
    hand.run("messages", "send", "--target", "x", "--message", "-", stdin=raw)
    assert server.asked[0].json["message"].encode() == raw


@pytest.mark.parametrize("words", [("--message", "-"), ("--message", b"a\xff")], ids=["in", "word"])
def test_bytes_that_are_no_text_are_a_usage_fault(
    server: StandIn, hand: Hand, words: tuple[str | bytes, ...]
) -> None:
    done = hand.run("messages", "send", "--target", "x", *words, stdin=b"a\xff")
    assert done.code == 2 and "not UTF-8 at byte 1" in done.err
    assert not server.asked


def test_standard_input_is_read_once_and_only_when_it_is_there(server: StandIn, hand: Hand) -> None:
    closed = hand.shell("agentworks messages send --target x --message - <&-")
    assert closed.code == 2 and "standard input is closed" in closed.err
    endless = hand.shell("agentworks messages send --target x --message - < /dev/zero")
    assert endless.code == 2 and "longer than 16777216 bytes" in endless.err
    assert not server.asked


def test_the_locale_changes_no_message(server: StandIn, hand: Hand) -> None:
    env = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = hand.run("messages", "send", "--target", "x", "--message", "é\U0001f600", env=env)
    assert (done.code, server.asked[0].json["message"]) == (0, "é\U0001f600")


def test_words_are_utf8_even_where_python_took_them_for_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.fsencode", lambda word: word.encode("latin-1"))
    assert words_of(["\u00c3\u00a9"]) == ["é"]


def test_a_dash_is_a_dash_where_no_long_text_is_asked_for(server: StandIn, hand: Hand) -> None:
    hand.run("messages", "read", "--agent", "-", stdin=b"x")
    assert server.asked[0].path == "/api/messages?agent_name=-"


@pytest.mark.parametrize("number", ["-1", "9223372036854775808", "1" + "0" * 30])
def test_a_number_goes_to_the_server_with_all_its_digits(
    server: StandIn, hand: Hand, number: str
) -> None:
    hand.run("messages", "read", "--inbox", "i", "--after", number)
    assert parse_qs(urlsplit(server.asked[0].path).query)["after"] == [number]


@pytest.mark.parametrize("word", ["1e2", " 5", "1_000", "+1", "01", "\u0663", "0x1", "", "1.0"])
def test_what_is_no_whole_number_is_a_usage_fault(server: StandIn, hand: Hand, word: str) -> None:
    done = hand.run("messages", "read", "--inbox", "i", "--after", word)
    assert done.code == 2 and "is not a whole number" in done.err
    assert not server.asked


def test_an_option_may_be_repeated_and_a_list_may_be_empty(server: StandIn, hand: Hand) -> None:
    start = ("messages", "register", "--agent", "r")
    hand.run(*start, "--allow-connection", "conn_1", "--allow-connection", "conn_2")
    hand.run(*start, "--no-allow-connection")
    hand.run(*start)
    both = hand.run(*start, "--no-allow-connection", "--allow-connection", "conn_1")
    assert [asked.json.get("allowed_connection_ids") for asked in server.asked] == [
        ["conn_1", "conn_2"],
        [],
        None,
    ]
    assert both.code == 2


def test_a_name_in_an_address_cannot_leave_its_place(server: StandIn, hand: Hand) -> None:
    hand.run("messages", "unregister", "--agent", "a b?c#d%2fé")
    assert server.asked[0].path == "/api/messages/agents/a%20b%3Fc%23d%252f%C3%A9"
    for name in ("", ".", "..", "a/b"):
        assert hand.run("messages", "unregister", "--agent", name).code == 2
    assert len(server.asked) == 1


def test_a_missing_or_unknown_option_is_a_usage_fault(server: StandIn, hand: Hand) -> None:
    for words in (["messages", "send"], ["messages", "read", "--bogus"], ["bogus"], ["messages"]):
        done = hand.run(*words)
        assert (done.code, done.out) == (2, "") and "Usage: agentworks" in done.err
    assert not server.asked


# ── The tree ─────────────────────────────────────────────────────────────────────────────────


def test_the_version(hand: Hand) -> None:
    assert hand.run("--version").out == f"agentworks {__version__}\n"


def test_every_operation_with_a_command_is_in_the_tree(hand: Hand) -> None:
    for operation in PROTOCOL:
        if operation.cli:
            done = hand.run(*operation.cli.split(), "-h")
            assert (done.code, done.err) == (0, "")
            for each in inputs_of(operation.request):
                shown = each.flag.upper() if each.positional else f"--{each.flag}"
                assert shown in done.out


def test_help_of_a_local_command_says_what_the_list_of_commands_says() -> None:
    context = tree.make_context("agentworks", [], resilient_parsing=True)
    for name, about in LOCAL.items():
        command = tree.get_command(context, name)
        assert command and command.help and command.help.split("\n")[0] == about


def test_what_may_come_from_standard_input_says_so() -> None:
    for operation in PROTOCOL:
        for each in inputs_of(operation.request) if operation.cli else ():
            assert each.stdin == ("stdin" in each.about), each.name


def test_help_loads_no_network_and_a_call_loads_no_server(server: StandIn, hand: Hand) -> None:
    program = (
        "import sys; from cli.commands import run; run(sys.argv[1:]);"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    loaded = []
    for words in (["--help"], ["messages", "list", "--json"]):
        ran = subprocess.run(
            [sys.executable, "-c", program, *words], env=hand.env, capture_output=True, check=True
        )
        loaded.append(set(ran.stderr.decode().split()))
    assert not loaded[0] & {"http.client", "socket", "ssl", "json", "asyncio", "subprocess"}
    assert not loaded[1] & {
        "json",
        "asyncio",
        "subprocess",
        "apsw",
        "litestar",
        "uvicorn",
    }


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("agentworks me", {"messages"}),
        ("agentworks messages se", {"send"}),
        ("agentworks messages read --w", {"--wait"}),
        ("agentworks login --scope a", {"author"}),
    ],
)
def test_completion_knows_groups_commands_and_options(
    hand: Hand, typed: str, found: set[str]
) -> None:
    words = typed.split(" ")
    quoted = " ".join(words)
    line = (
        'eval "$(agentworks completion bash)"; '
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _agentworks_completion agentworks; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = hand.shell(line)
    assert (set(done.out.split()), done.err) == (found, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(hand: Hand, shell: str) -> None:
    done = hand.run("completion", shell)
    assert done.code == 0 and "_AGENTWORKS_COMPLETE" in done.out
