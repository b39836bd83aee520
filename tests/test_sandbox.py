"""What a program can see, change and reach at each level, and which level is chosen."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agentworks.runners import folders, landlock, nursery, sandbox
from agentworks.runners.sandbox import AGENT, RELAY, Level, Unconfined
from tests.programs import Stage, program, run, shell

SERVER_SECRET = "hunter2-of-the-server"


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def level(request: pytest.FixtureRequest) -> sandbox.Name:
    wanted: sandbox.Name = request.param
    if wanted == "bubblewrap" and sandbox.probe().name != "bubblewrap":
        pytest.skip(f"NOT TESTED: {sandbox.probe().why}")
    if wanted == "landlock" and not landlock.version():
        pytest.skip("NOT TESTED: this kernel has no Landlock")
    return wanted


@pytest.fixture
def stage(tmp_path: Path, level: sandbox.Name) -> Stage:
    (tmp_path / "agentworks.db").write_text("everything")
    (tmp_path / "agents/crew-2").mkdir(parents=True)
    (tmp_path / "agents/crew-1/.calls/call_9").mkdir(parents=True)
    nursery.close()  # the next one is started with the secret in the server's environment
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SERVER_SECRET", SERVER_SECRET)
        nursery.nursery()
    return Stage(tmp_path, level)


@pytest.fixture
def port() -> Iterator[int]:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def explored(stage: Stage, port: int, **more: Any) -> dict[str, Any]:
    """What an agent program of crew-1 managed to do."""
    database, other = stage.root.parent / "agentworks.db", stage.root / "crew-2"
    system = "/usr" if stage.level != "none" else str(other)  # as root it would succeed
    words = (str(database), str(other), str(port), str(os.getpid()), system)
    outcome = run(stage.perform(program("outsider.py", *words), **more))
    assert outcome.state == "answered", outcome
    found: dict[str, Any] = json.loads(outcome.text)
    return found


def test_an_agent_program_reaches_what_its_level_lets_it(
    stage: Stage, level: sandbox.Name, port: int
) -> None:
    found = explored(stage, port)
    free = level == "none"
    assert (found["read_secret"], found["write_other"]) == (free, free)
    assert found["write_out"] and found["write_project"] and found["write_tmp"]
    assert found["connect"]  # it must reach its provider
    hidden = level == "bubblewrap"
    assert found["other_calls"] == (["call_1"] if hidden else ["call_1", "call_9"])
    assert found["write_system"] is free
    can_signal = {"bubblewrap": False, "landlock": landlock.version() < 6, "none": True}
    assert found["signal_server"] is can_signal[level]


def test_no_program_sees_the_servers_environment_or_a_secret_in_an_argument(
    stage: Stage, level: sandbox.Name, port: int
) -> None:
    secret = "key-of-the-provider"
    with subprocess.Popen(["sleep", "60"], env={"OTHER": "secret-of-a-neighbour"}) as neighbour:
        found = explored(stage, port, secrets={"PROVIDER_KEY": secret})
        neighbour.kill()
    assert SERVER_SECRET not in found["env"].values()
    assert set(found["env"]) - {"PWD", "LC_CTYPE"} == {
        *("AGENTWORKS_SERVER", "AGENTWORKS_TOKEN", "CREW_OUTPUT_DIR", "CREW_RUN_DIR"),
        *("FUNCTION_CALL_ID", "FUNCTION_OUTPUT_DIR", "FUNCTION_RESULT_FILE", "HOME", "LANG"),
        *("PATH", "PROVIDER_KEY", "TMPDIR"),
    }
    assert found["env"]["PROVIDER_KEY"] == secret
    assert found["fds"] == ["0", "1", "2", "3"]  # the third lists the others
    assert SERVER_SECRET not in found["environments"]  # not in the nursery's or keeper's either
    assert ("secret-of-a-neighbour" in found["environments"]) is (level == "none")


def test_no_secret_is_in_any_command_line(stage: Stage) -> None:
    """/proc/*/cmdline is everybody's to read: seen from outside, while the program runs."""

    seen: list[str] = []

    async def watching(told: Any) -> None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                seen.append(path.read_bytes().decode("utf-8", "replace"))

    async def scene() -> None:
        turn, made = stage.turn(secrets={"PROVIDER_KEY": "key-of-the-provider"})
        script = shell("echo now; sleep 0.4")
        await stage.execution("command", script, turn, made, watching).run()

    run(scene())
    everything = "\n".join(seen)
    assert "sleep" in everything
    assert "key-of-the-provider" not in everything
    assert "turn-token" not in everything


def test_children_die_with_the_turn_at_every_level(stage: Stage) -> None:
    outcome = run(stage.perform(program("breeder.sh", "leave")))
    assert (outcome.state, outcome.text) == ("answered", "bred")


def test_a_program_gets_its_grace_at_every_level(stage: Stage) -> None:
    async def scene() -> str:
        turn, made = stage.turn()
        script = shell("trap 'echo bye; exit 0' TERM; echo on; while :; do sleep 0.05; done")
        acting = stage.execution("command", script, turn, made, stage.tell)
        stop = stage.tell

        async def stopping(told: Any) -> None:
            acting.stop("enough")
            await stop(told)

        acting._tell = stopping
        return (await acting.run()).text

    assert run(scene()) == "on\nbye"


def test_a_read_only_project_keeps_its_outputs_writable(stage: Stage, level: str) -> None:
    async def scene() -> str:
        turn, made = stage.turn()
        execution = stage.execution(
            "command",
            shell("echo x > project-mark; echo y > $CREW_OUTPUT_DIR/mark; ls; ls outputs"),
            turn,
            made,
            stage.tell,
        )
        execution._confinement = folders.confinement(
            made, stage.level, project_writable=False, read=(stage.agent,)
        )
        return (await execution.run()).text

    assert run(scene()).split() == (
        ["outputs", "project-mark", "mark"] if level == "none" else ["outputs", "mark"]
    )


def test_a_relays_program_has_no_network(stage: Stage, level: sandbox.Name, port: int) -> None:
    async def scene() -> str:
        turn, made = stage.turn()
        execution = stage.execution(
            "command",
            program("outsider.py", "/none", "/none", str(port), "0", "/none"),
            turn,
            made,
            stage.tell,
        )
        bounds = structs.replace(execution._confinement, profile=RELAY)
        execution._confinement = bounds
        return (await execution.run()).text

    assert json.loads(run(scene()))["connect"] is (level == "none")


def test_a_relays_program_is_limited(stage: Stage, level: sandbox.Name) -> None:
    async def scene() -> str:
        turn, made = stage.turn()
        script = (
            "import resource as r; "
            "print([r.getrlimit(getattr(r, 'RLIMIT_' + n))[0] for n in ('AS', 'FSIZE', 'CORE')]); "
            "x = bytearray(2 << 30)"
        )
        execution = stage.execution(
            "command", {"argv": [sys.executable, "-S", "-c", script]}, turn, made, stage.tell
        )
        execution._confinement = structs.replace(execution._confinement, profile=RELAY)
        outcome = await execution.run()
        assert "MemoryError" in outcome.reason
        return outcome.partial

    assert run(scene()) == str([1 << 30, 256 << 20, 0])


def test_a_python_agent_runs_at_every_level(stage: Stage) -> None:
    (stage.agent / "agent.py").write_text("async def reply(turn): return turn.prompt.upper()\n")
    outcome = run(stage.perform({"file": "agent.py"}, prompt="up", runtime="python"))
    assert outcome.text == "UP"


def test_landlock_does_not_show_the_server_s_folder_with_the_folder_it_lies_in() -> None:
    bounds = sandbox.Confinement(level="landlock", profile=AGENT, veil=Path("/usr/lib/apt"))
    order = sandbox.order(bounds, ["true"], {}, Path("/"))
    assert order.landlock is not None
    shown = [Path(path) for path in order.landlock["read"]]
    assert not any(Path("/usr/lib/apt").is_relative_to(path) for path in shown)
    assert Path("/usr/bin") in shown


# ── Which level ──────────────────────────────────────────────────────────────────────────────

GOOD = Level(name="bubblewrap", why="works")
BARE = Level(name="none", why="nothing is installed", warnings=("NO SANDBOX",))


def test_the_probe_names_a_level_and_why() -> None:
    found = sandbox.probe()
    assert found.name in ("bubblewrap", "landlock", "none")
    assert found.why
    assert bool(found.warnings) == (found.name != "bubblewrap")


@pytest.mark.parametrize(
    ("wanted", "profile", "found", "uid", "allow_root", "level", "warned"),
    [
        ("auto", AGENT, GOOD, 1000, False, "bubblewrap", 0),
        ("auto", AGENT, BARE, 1000, False, "none", 1),
        ("none", AGENT, GOOD, 1000, False, "none", 1),
        ("none", RELAY, GOOD, 1000, False, "none", 1),
        ("auto", RELAY, GOOD, 0, True, "bubblewrap", 1),
    ],
    ids=["best", "bare", "none-by-choice", "relay-by-choice", "root-allowed"],
)
def test_the_level_is_chosen_and_warned_of(
    wanted: sandbox.Wanted,
    profile: sandbox.Profile,
    found: Level,
    uid: int,
    allow_root: bool,
    level: str,
    warned: int,
) -> None:
    chosen, warnings = sandbox.decide(wanted, profile, found, uid=uid, allow_root=allow_root)
    assert (chosen, len(warnings)) == (level, warned)


@pytest.mark.parametrize(
    ("wanted", "profile", "found", "uid", "problems"),
    [
        ("auto", RELAY, BARE, 1000, ["a relay needs a sandbox"]),
        ("bubblewrap", AGENT, BARE, 1000, ["bubblewrap was asked for"]),
        ("auto", AGENT, GOOD, 0, ["do not run as root"]),
        ("bubblewrap", RELAY, BARE, 0, ["bubblewrap was asked for", "do not run as root"]),
    ],
    ids=["relay", "missing", "root", "both"],
)
def test_what_cannot_be_confined_as_asked_is_refused_with_every_reason(
    wanted: sandbox.Wanted, profile: sandbox.Profile, found: Level, uid: int, problems: list[str]
) -> None:
    with pytest.raises(Unconfined) as raised:
        sandbox.decide(wanted, profile, found, uid=uid, allow_root=False)
    told = raised.value.problems
    assert len(told) == len(problems)
    assert all(part in problem for part, problem in zip(problems, told, strict=True))
