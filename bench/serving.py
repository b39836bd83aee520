"""A real server process in a throw-away folder, with connections to it; and its variants."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Raised for every bench, and printed with the results: the load is on few conversations.
RAISED = {
    "MESSAGES_PER_HOUR_MAX": 10**9,
    "MESSAGES_PER_INBOX_MAX": 10**9,
    "INBOXES_PER_ACCOUNT_MAX": 10**6,
    "INBOXES_PER_STORE_MAX": 10**6,
    "CREW_CALLS_RUNNING_MAX": 10**3,
}


@dataclass
class Served:
    """A running server: its port, a sender's and a reader's token, and its process."""

    port: int
    token: str
    reader: str
    process: subprocess.Popen[str]
    home: Path

    def ask(self, method: str, path: str, body: object = None, token: str = "") -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token or self.token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def inboxes(self, count: int) -> list[str]:
        """New conversations with a named agent, each with its first message."""
        self.ask("POST", "/api/messages/agents", {"agent_name": "reviewer"}, self.reader)
        found = []
        first = {"target": "agent:reviewer", "message": "first"}
        for start in range(0, count, 50):
            batch = {"messages": [first] * min(50, count - start)}
            receipts = self.ask("POST", "/api/messages/batch", batch)["receipts"]
            found += [each["inbox_id"] for each in receipts]
        return found

    @property
    def memory(self) -> int:
        """Resident bytes of the server."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    @property
    def cpu_seconds(self) -> float:
        """Processor time the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(variant: str = "product", synchronous: str = "FULL") -> Iterator[Served]:
    """Start `bench.variants` as a process of its own; stop it in the end."""
    with tempfile.TemporaryDirectory(prefix="agentworks-bench-") as folder:
        home = Path(folder)
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.variants", str(home), variant, synchronous],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            yield Served(ready["port"], ready["token"], ready["reader"], process, home)
        finally:
            process.terminate()
            process.wait(30)
