"""The folders of one turn, and the environment that names them to its programs.

    <data>/agents/<agent_id>/            the agent's project: files, memory, knowledge
        outputs/                         CREW_OUTPUT_DIR, shared by all its callers
        .calls/<turn>/out/               FUNCTION_OUTPUT_DIR; result.json is FUNCTION_RESULT_FILE
        .calls/<turn>/{work,home,tmp}/   private to the turn

A turn's folder bears its call's id, so nothing an earlier call left can be taken for its result.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agentworks.rules import strict_json
from agentworks.runners import sandbox

RESULT_NAME = "result.json"
PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_VALUE_BYTES_MAX = 128 * 1024 - 256  # one environment string may have 128 KiB on Linux
# The loader obeys these before a sandbox is closed; the rest is ours to say.
_NEVER = re.compile(r"(LD|GLIBC|AGENTWORKS|FUNCTION|CREW|VAR)_.*|PATH|HOME|TMPDIR|LANG")


class Folders(Struct, frozen=True, kw_only=True):
    """Where one turn reads and writes. All exist; `result_file` does not yet."""

    root: Path  # the server's folder for agents
    agent: Path
    turn: Path
    out: Path
    work: Path
    home: Path
    tmp: Path
    outputs: Path
    result_file: Path


class NoSuchEnvironment(Exception):
    """The environment asked for cannot be given to a program. `problems` say what is wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(*problems)
        self.problems = problems


def place(root: Path, agent_id: str, turn: str) -> Folders:
    """Where a turn's folders are, whether they exist or not. `turn` is its call's id.

    Raises ValueError for ids that are no plain names: they are made by us, so that is a bug.
    """
    for name in (agent_id, turn):
        if not _ID.fullmatch(name):
            raise ValueError(f"not an id: {name!r}")
    agent = root / agent_id
    mine = agent / ".calls" / turn
    return Folders(
        root=root,
        agent=agent,
        turn=mine,
        out=mine / "out",
        work=mine / "work",
        home=mine / "home",
        tmp=mine / "tmp",
        outputs=agent / "outputs",
        result_file=mine / "out" / RESULT_NAME,
    )


def prepare(
    root: Path, agent_id: str, turn: str, *, again: bool = False, private: bool = True
) -> Folders:
    """Make a turn's folders. Raises FileExistsError when that turn had its folders already.

    `again`: a call goes on in a further turn, beside what its earlier ones have produced.
    `private`: with work, home and tmp, which only a program needs.
    """
    folders = place(root, agent_id, turn)
    for folder in (folders.outputs, folders.turn.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folders.turn.mkdir(mode=0o700, exist_ok=again)
    alone = (folders.work, folders.home, folders.tmp) if private else ()
    for folder in (folders.out, *alone):
        folder.mkdir(mode=0o700, exist_ok=again)
    return folders


def discard_private(folders: Folders) -> None:
    """After a turn: remove its home, work and tmp; keep what it produced."""
    for folder in (folders.home, folders.work, folders.tmp):
        remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder and all in it, links unfollowed, even where a program took our rights."""
    shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    with contextlib.suppress(OSError):
        folder.unlink()  # a program put a file or link in its place
        return
    folder.chmod(0o700)
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = os.path.join(path, name)
            if not os.path.islink(inner):
                os.chmod(inner, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def confinement(
    folders: Folders,
    level: sandbox.Name,
    *,
    project_writable: bool = True,
    read: tuple[Path, ...] = (),
) -> sandbox.Confinement:
    """The bounds of a Crew's programs: the agent's folder, and of its calls only this one."""
    project = (folders.agent,)
    return sandbox.Confinement(
        level=level,
        profile=sandbox.AGENT,
        veil=folders.root.parent,
        read=read if project_writable else (*project, *read),
        write=(*project,) if project_writable else (folders.outputs,),
        hide=(folders.turn.parent,),
        own=(folders.out, folders.work, folders.home, folders.tmp),
    )


def environment(
    folders: Folders,
    *,
    call_id: str = "",
    server_url: str = "",
    token: str = "",
    variables: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The whole environment of a turn's programs (contract §6): nothing of the server's own.

    `variables` become VAR_<name>; `secrets` are the runtime's own, under their own names.
    Raises NoSuchEnvironment with every problem.
    """
    env = {
        "PATH": PROGRAM_PATH,
        "HOME": str(folders.home),
        "TMPDIR": str(folders.tmp),
        "LANG": "C.UTF-8",
        "AGENTWORKS_SERVER": server_url,
        "AGENTWORKS_TOKEN": token,
        "CREW_OUTPUT_DIR": str(folders.outputs),
        "CREW_RUN_DIR": str(folders.outputs),  # its older name
    }
    if call_id:
        env["FUNCTION_CALL_ID"] = call_id
        env["FUNCTION_OUTPUT_DIR"] = str(folders.out)
        env["FUNCTION_RESULT_FILE"] = str(folders.result_file)
    problems = [
        f"{name}: a secret cannot have this name"
        for name in secrets or {}
        if _NEVER.fullmatch(name) or not _VARIABLE.fullmatch(name)
    ]
    added = {f"VAR_{name}": value for name, value in (variables or {}).items()} | dict(
        secrets or {}
    )
    for name, value in added.items():
        problems += _value_problems(name, value)
    if problems:
        raise NoSuchEnvironment(problems)
    return env | added


def _value_problems(name: str, value: str) -> list[str]:
    found = [] if _VARIABLE.fullmatch(name) else [f"{name}: not a variable's name"]
    flaw = strict_json.text_problem(value)
    if flaw:
        found.append(f"{name} {flaw}")
    elif len(value.encode()) > _VALUE_BYTES_MAX:
        found.append(f"{name} is longer than {_VALUE_BYTES_MAX:,} bytes, more than Linux passes on")
    return found


def marker(env: Mapping[str, str]) -> bytes:
    """A line of a turn's environment that no other turn's programs have."""
    return f"TMPDIR={env['TMPDIR']}\0".encode()


def every_marker(root: Path) -> bytes:
    """How the markers of all turns under `root` begin: what to end at start-up."""
    return f"TMPDIR={root}/".encode()
