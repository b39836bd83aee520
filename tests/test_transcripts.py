"""Sessions at a real command line against a real server, told as shell transcripts."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_transcript import Served, Session, ends_within, served
from tests.cli_world import Hand, free_port
from tests.pages_office import Browser


@pytest.fixture(name="server", scope="module")
def a_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("server")) as made:
        yield made


@pytest.fixture(name="people", scope="module")
def two_people(server: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Hand]:
    """A worker and a reviewer, each with a connection of their own; names are per test."""
    folder = tmp_path_factory.mktemp("people")
    return {name: server.person(folder / name, name) for name in ("worker", "reviewer")}


TWO_AGENTS_TALK = """\
worker$ agentworks messages register --agent worker
registered
  registration_id  reg_1
  agent_name  worker
  address  agent:worker
  allowed_connection_ids  conn_1
  created  yes
next: read with agent_name worker; others write to agent:worker
reviewer$ agentworks messages register --agent reviewer --json > /dev/null
worker$ agentworks messages send --agent worker --target agent:reviewer --message 'Ready for review'
accepted
  receipt  stored
  message_id  msg_1
  inbox_id  inbox_1
  conversation_id  inbox_1
  sequence  1
next: read inbox_id inbox_1 after 1 for what comes back
reviewer$ agentworks messages read --agent reviewer --after 0 --wait 25
[1] agent:worker  <time>  stored
    msg_1  reply: --inbox inbox_1
  | Ready for review

continue with --after 1
reviewer$ agentworks messages send --agent reviewer --inbox inbox_1 --message 'Review received'
accepted
  receipt  stored
  message_id  msg_2
  inbox_id  inbox_1
  conversation_id  inbox_1
  sequence  2
next: read inbox_id inbox_1 after 2 for what comes back
worker$ agentworks messages read --agent worker --inbox inbox_1 --after 1
[2] agent:reviewer  <time>  stored
    msg_2  reply: --inbox inbox_1
  | Review received

continue with --after 2
worker$ agentworks messages read --agent worker --inbox inbox_1 --after 2
no new messages; continue with --after 2
worker$ agentworks messages list
directory
  agents
    registration_id  agent_name  address  yours  registered_at  allowed_connection_ids
    reg_2  reviewer  agent:reviewer  no  <time>  conn_2
    reg_1  worker  agent:worker  yes  <time>  conn_1
worker$ agentworks messages register --agent worker --allow-connection conn_2
registered
  registration_id  reg_1
  agent_name  worker
  address  agent:worker
  allowed_connection_ids  conn_1, conn_2
  created  no
next: read with agent_name worker; others write to agent:worker
reviewer$ agentworks messages unregister --agent reviewer
unregistered
  registration_id  reg_2
  agent_name  reviewer
worker$ agentworks messages unregister --agent worker > /dev/null
"""

WRONG_CALLS = """\
worker$ agentworks messages register --agent writer --json > /dev/null
worker$ agentworks messages register --agent reviewer --json > /dev/null
worker$ agentworks messages send --agent writer --message '-n is broken'
refused: invalid_input
  - pass target to open a conversation, or inbox_id to continue one
try:
  agentworks messages send --message '-n is broken' --agent writer --target agent:reviewer
  with your own value for: target
[3]
worker$ agentworks messages read --agent writer --after -1
refused: invalid_input
  - after must be at least 0 (got -1)
try:
  agentworks messages read --agent writer --after 0
[3]
worker$ agentworks messages read --inbox inbox-example
refused: not_found
  - no inbox 'inbox-example'; open a conversation with target to get one
[3]
worker$ printf 'a\\0b' | agentworks messages send --target agent:writer --message -
refused: invalid_input
  - message: has a NUL character
[3]
worker$ AGENTWORKS_TOKEN=aw_wrong agentworks guidance context
refused: not_signed_in
  - no live connection or session; run `agentworks login`, or pass a connection's token as \
`Authorization: Bearer …`
  the token came from AGENTWORKS_TOKEN
[4]
"""


@pytest.mark.parametrize("told", [TWO_AGENTS_TALK, WRONG_CALLS], ids=["talk", "wrong_calls"])
def test_a_session_looks_as_it_is_told(tmp_path: Path, told: str) -> None:
    with served(tmp_path / "server") as alone:
        people = {name: alone.person(tmp_path / name, name) for name in ("worker", "reviewer")}
        assert Session(people).replay(told) == told


def test_a_waiting_read_is_woken_by_a_send(people: dict[str, Hand]) -> None:
    worker, reviewer = people["worker"], people["reviewer"]
    assert reviewer.run("messages", "register", "--agent", "sleeper").code == 0
    waiting = reviewer.start("messages", "read", "--agent", "sleeper", "--wait", "25", "--json")
    assert not ends_within(waiting, 1.5), reviewer.ended(waiting)
    worker.run("messages", "send", "--target", "agent:sleeper", "--message", "Wake up")
    started = time.monotonic()
    done = reviewer.ended(waiting)
    assert time.monotonic() - started < 5
    assert [each["message"] for each in done.json["messages"]] == ["Wake up"]


def test_a_retry_returns_the_same_receipt_and_other_content_is_a_conflict(
    people: dict[str, Hand],
) -> None:
    worker = people["worker"]
    worker.run("messages", "register", "--agent", "retried")
    send = ("messages", "send", "--target", "agent:retried", "--submission-id", "s-1", "--json")
    first, second = (worker.run(*send, "--message", "build 41") for _ in range(2))
    assert (first.code, first.out) == (second.code, second.out) == (0, first.out)
    other = worker.run(*send, "--message", "build 42")
    assert (other.code, other.json["code"]) == (3, "submission_conflict")


TEXTS = [
    "\U0001f600" * 20_000,
    "-n --help",
    "a\r\nb\r\n\n",
    "$(x) `y` \"z\" 'w' \\",
    "\x1b[31m\u202e\u2028",
    " ",
]


def test_a_text_is_delivered_whole_from_an_argument_and_from_standard_input(
    people: dict[str, Hand],
) -> None:
    worker = people["worker"]
    worker.run("messages", "register", "--agent", "texts")
    send = ("messages", "send", "--target", "agent:texts", "--message")
    for text in TEXTS:
        assert worker.run(*send, text).code == 0
        assert worker.run(*send, "-", stdin=text.encode()).code == 0
    assert worker.run(*send, "-", stdin=b"-").code == 0
    read = worker.run("messages", "read", "--agent", "texts", "--json")
    received = [each["message"] for each in read.json["messages"]]
    assert received == [text for text in TEXTS for _ in range(2)] + ["-"]


@pytest.mark.parametrize(
    ("text", "count"),
    [("\U0001f600" * 20_001, "20,001"), ("e\u0301" * 20_000, "40,000"), ("", "empty")],
    ids=["emoji", "pairs", "empty"],
)
def test_a_text_of_a_wrong_length_is_refused_with_its_count(
    people: dict[str, Hand], text: str, count: str
) -> None:
    send = ("messages", "send", "--target", "agent:x", "--message")
    for done in (
        people["worker"].run(*send, text),
        people["worker"].run(*send, "-", stdin=text.encode()),
    ):
        assert done.code == 3 and count in done.err


def test_a_person_lets_the_command_line_in_and_it_stays_in(server: Served, tmp_path: Path) -> None:
    browser = Browser(server.url)
    browser.join(server.link, account_name="ada")
    hand = Hand(tmp_path, server.url)
    waiting = hand.run("login", "--no-wait", "--label", "laptop", "--json")
    browser.get(f"/connect/{waiting.json['user_code']}")
    browser.press("approve")
    browser.client.close()
    assert hand.run("login", "--label", "laptop").code == 0
    context = hand.run("guidance", "context", "--json").json
    assert (context["account_name"], context["connection"]["label"]) == ("ada", "laptop")
    kept = hand.kept()
    hand.keep(**{**kept, "expires_at": 0})
    running = [hand.start("guidance", "context") for _ in range(2)]
    assert [hand.ended(each).code for each in running] == [0, 0]
    assert hand.kept()["refresh_token"] != kept["refresh_token"]
    assert hand.run("logout").code == 0
    assert hand.run("guidance", "context").code == 4
    hand.keep(**kept)
    assert hand.run("guidance", "context").code == 4


# ── The server's own machine ─────────────────────────────────────────────────────────────────


def test_a_connection_is_made_listed_and_revoked(server: Served, tmp_path: Path) -> None:
    at = ("--data", str(server.folder), "--json")
    made = server.hand.run(
        "connection", "create", *at, "--label", "ci", "--scope", "read", "--expires", "7"
    ).json
    assert (made["scopes"], made["label"]) == (["read"], "ci") and made["expires_at"]
    env = {"AGENTWORKS_TOKEN": made["token"], "AGENTWORKS_SERVER": server.url}
    assert server.hand.run("messages", "list", env=env).code == 0
    listed = server.hand.run("connection", "list", *at).json["connections"]
    assert made["connection_id"] in [each["connection_id"] for each in listed]
    assert server.hand.run("connection", "revoke", *at, made["connection_id"]).code == 0
    assert server.hand.run("messages", "list", env=env).code == 4
    lost = server.hand.run("connection", "revoke", *at, "conn_nobody")
    assert (lost.code, lost.json["code"]) == (3, "not_found")
    nowhere = ("--data", str(tmp_path / "none"), "--json")
    assert server.hand.run("connection", "list", *nowhere).json["code"] == "not_found"
    (tmp_path / "file").write_text("")
    wrong = ("--data", str(tmp_path / "file"), "--label", "x")
    broken = server.hand.run("connection", "create", *wrong)
    assert broken.code == 1 and broken.err.startswith("agentworks: cannot work on")


def test_a_second_server_on_the_same_folder_is_refused(server: Served) -> None:
    done = server.hand.run("serve", "--data", str(server.folder), "--port", "0")
    assert (done.code, done.out) == (1, "") and "already serves" in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "is reachable from other machines"),
        (["--tls-cert", "x.pem"], "--tls-cert and --tls-key go together"),
        (["--set", "MESSAGES_PER_HOUR_MAX"], "is not a whole number"),
        (["--set", "BOGUS=1"], "BOGUS"),
        (["--port", "99999"], "--port"),
    ],
    ids=["public", "half", "no_number", "unknown", "port"],
)
def test_a_server_is_not_started_on_options_that_make_no_sense(
    tmp_path: Path, options: list[str], words: str
) -> None:
    hand = Hand(tmp_path)
    done = hand.run("serve", "--data", str(tmp_path / "d"), "--port", str(free_port()), *options)
    assert (done.code, done.out) == (2, "") and words in done.err


def test_a_limit_that_was_set_holds_and_the_server_ends_when_asked(tmp_path: Path) -> None:
    with served(tmp_path / "server", "--set", "MESSAGES_PER_HOUR_MAX=1") as made:
        worker = made.person(tmp_path / "worker", "worker")
        worker.run("messages", "register", "--agent", "x")
        opened = worker.run("messages", "send", "--target", "agent:x", "--message", "1", "--json")
        again = worker.run(
            *("messages", "send", "--agent", "x", "--inbox", opened.json["inbox_id"]),
            *("--message", "2"),
        )
        assert again.code == 6 and "retry_at" in again.err
        ended = made.stop(signal.SIGINT)
        assert ended.code == 130 and "Traceback" not in ended.err
