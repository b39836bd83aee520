"""How long the command line takes from start to end, in starts of Python itself."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.bounds import Ratio, at_most
from bench.serving import served

ROUNDS = 15


def command_line() -> list[Ratio]:
    with served() as server:
        server.ask("POST", "/api/messages/agents", {"agent_name": "reviewer"}, server.reader)
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(server.home),
            "AGENTWORKS_SERVER": f"http://127.0.0.1:{server.port}",
            "AGENTWORKS_TOKEN": server.token,
        }
        agentworks = str(Path(sys.executable).with_name("agentworks"))
        target = ["--target", "agent:reviewer", "--message", "Hi"]
        commands = {
            "python": [sys.executable, "-c", "pass"],
            "send": [agentworks, "messages", "send", *target],
            "help": [agentworks, "--help"],
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, words in commands.items():
                began = time.perf_counter()
                subprocess.run(words, env=env, stdout=subprocess.DEVNULL, check=True)
                taken[name].append(time.perf_counter() - began)
    median = {name: statistics.median(found) for name, found in taken.items()}
    return [
        at_most(
            f"`agentworks {shown}`, in starts of Python",
            median[name] / median["python"],
            bound,
            f"{median[name] * 1000:.0f} ms against {median['python'] * 1000:.0f} ms",
        )
        for name, shown, bound in (("send", "messages send", 12), ("help", "--help", 10))
    ]
