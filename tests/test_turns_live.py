"""Running agents reach the real server with their turn's token, from inside their sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentworks.contracts.refusal import Input
from tests.live_turns import Client, LiveTurns
from tests.turning import function, program, scripted

AGENT = """
async def reply(turn):
    await turn.progress("calling")
    args = {"target": "Worker", "function": "double", "args": {"N": 21}, "wait_seconds": 20}
    called = await turn.call("call_function", args)
    await turn.call("report_function_progress", {"line": f"worker says {called['status']}"})
    outside = await turn.call("crews.delete", {"target": "Worker"})
    return [called["result"], called["caller"], outside["code"]]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveTurns]:
    server = LiveTurns(tmp_path_factory.mktemp("live") / "a")
    double = """
    cat > prompt; grep -o '"N":[0-9]*' prompt | cut -d: -f2 |
    { read -r n; echo $((n * 2)) > $FUNCTION_RESULT_FILE; }
    """
    offer = function("double", Input("N", "integer", True), result_schema={"type": "integer"})
    server.crew("Worker", program(double), offers=[offer])
    folder = server.crew("Helper", {"name": "python", "file": "agent.py"})
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(AGENT)
    for name, other in (("Ping", "Pong"), ("Pong", "Ping")):
        question = {"target": other, "message": "Go", "wait_seconds": 20}
        ask = {"call": "agents.ask", "args": question, "as": "it"}
        server.crew(name, scripted(ask, {"say": "{{it.status}} {{it.code}}"}))
    with server:
        yield server


@pytest.fixture
def client(server: LiveTurns) -> Client:
    return server.client()


def test_an_agent_calls_another_with_its_own_token(client: Client) -> None:
    answer = client.settled(client.question("Helper", "Go")["call_id"])
    assert answer["status"] == "answered", answer["reason"]
    assert answer["answer"] == '[42, "Helper", "not_permitted"]'
    assert [line["line"] for line in answer["progress"]] == ["calling", "worker says completed"]


def test_agents_that_ask_each_other_come_to_an_end(server: LiveTurns, client: Client) -> None:
    answer = client.settled(client.question("Ping", "Go")["call_id"])
    assert answer["answer"] == "answered "
    asked = server.value("SELECT answer FROM calls WHERE caller_name = 'Ping'")
    assert asked == "refused loop_refused"


def test_a_flood_of_output_ends_as_a_failure_with_its_beginning(
    server: LiveTurns, client: Client
) -> None:
    flood = "i=0; while [ $i -lt 50 ]; do head -c 1048576 /dev/zero | tr '\\0' x; i=$((i+1)); done"
    server.crew("Flood", program(flood), offers=[function("work")])
    over = client.settled(client.call("Flood", "work")["call_id"])
    assert (over["status"], over["reason"]) == (
        "failed",
        "its answer has more than 10,485,760 bytes",
    )
    assert over["partial"].startswith("xxxx") and len(over["partial"]) <= 256 * 1024


def test_a_turn_sees_nothing_of_the_server_nor_of_other_calls(
    server: LiveTurns, client: Client
) -> None:
    spy = "ls ..; ls -A ../../; ls -A .calls; cat ../../agentworks.db ../../secret.key; exit 0"
    server.crew("Spy", program(f"{{ {spy}; }} 2>&1; env > $CREW_OUTPUT_DIR/env"))
    folder = server.crew("Victim", scripted({"say": "Hm."}))
    answer = client.settled(client.question("Spy", "Go")["call_id"])["answer"]
    assert folder.name not in answer
    assert "SQLite" not in answer and "No such file" in answer
