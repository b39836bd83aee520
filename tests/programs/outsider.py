"""Tries to read, change and reach what is not its own; prints what it managed, as JSON.

usage: outsider.py SECRET_FILE OTHER_FOLDER TCP_PORT SERVER_PID SYSTEM_FOLDER
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

secret, other, port, server, system = sys.argv[1:6]


def tried(act: Callable[[], Any]) -> bool:
    try:
        act()
    except (OSError, ValueError):
        return False
    return True


def connect() -> None:
    with contextlib.closing(socket.create_connection(("127.0.0.1", int(port)), 2)):
        pass


def environments() -> str:
    found = ""
    for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += Path(path).read_bytes().decode("utf-8", "replace")
    return found


print(
    json.dumps(
        {
            "read_secret": tried(lambda: Path(secret).read_text()),
            "write_other": tried(lambda: (Path(other) / "mark").write_text("x")),
            "other_calls": sorted(os.listdir(Path(os.environ["FUNCTION_OUTPUT_DIR"]).parents[1])),
            "write_system": tried(lambda: (Path(system) / "aw-mark").write_text("x")),
            "write_out": tried(
                lambda: (Path(os.environ["FUNCTION_OUTPUT_DIR"]) / "mine").write_text("x")
            ),
            "write_project": tried(lambda: Path("project-mark").write_text("x")),
            "write_tmp": tried(lambda: (Path(os.environ["TMPDIR"]) / "t").write_text("x")),
            "connect": tried(connect),
            "signal_server": tried(lambda: os.kill(int(server), signal.SIGWINCH)),
            "environments": environments(),
            "env": dict(os.environ),
            "fds": sorted(os.listdir("/proc/self/fd")),
        }
    )
)
