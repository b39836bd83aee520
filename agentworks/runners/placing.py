"""The files its authors gave an agent, placed in its folder before a turn (decision 0020).

They are placed when they are new or changed in the store; what the agent itself writes over them
stays until then. What was placed is remembered beside the agents' folders, out of their reach.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

from agentworks.runners import files
from agentworks.store import Store
from agentworks.tables import agent_files
from agentworks.tables.agent_files import Listed, Whole

_MEMORY = ".placed"
_PROGRAM, _TEXT = 0o700, 0o600


class Placed:
    """The files that stand in the agents' folders, as far as this server has looked."""

    def __init__(self, store: Store, root: Path) -> None:
        self._store = store
        self._root = root
        self._known: dict[str, list[tuple[str, bytes]]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def bring(self, agent_id: str, wanted: Sequence[Listed]) -> None:
        """Bring an agent's folder up to date. Raises OSError and BadName."""
        if self._known.get(agent_id) == _names(wanted):
            return
        async with self._one_at_a_time:
            (listed, contents), _ = self._store.read(
                lambda db: (agent_files.of_agent(db, agent_id), agent_files.whole(db, agent_id))
            )
            await asyncio.to_thread(place, self._root, agent_id, listed, contents)
            self._known[agent_id] = _names(listed)


def _names(listed: Sequence[Listed]) -> list[tuple[str, bytes]]:
    return [(each.path, each.sha256) for each in listed]


def place(root: Path, agent_id: str, listed: Sequence[Listed], contents: Sequence[Whole]) -> None:
    """Bring an agent's folder below `root` up to what is listed. Raises OSError and BadName.

    `contents` are all the files whole. Blocks: it belongs on a thread of its own.
    """
    wanted = {each.path: each.sha256.hex() for each in listed}
    memory = _memory(root, agent_id)
    placed = remembered(root, agent_id)
    if placed == wanted:
        return
    (root / agent_id).mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in placed.keys() - wanted.keys():
        with contextlib.suppress(OSError, files.BadName):
            files.remove(root, (agent_id,), path)
    for whole in contents:
        if placed.get(whole.path) != wanted.get(whole.path):
            mode = _PROGRAM if whole.content.startswith(b"#!") else _TEXT
            files.write_new(root, (agent_id,), whole.path, whole.content, mode)
    memory.parent.mkdir(mode=0o700, exist_ok=True)
    draft = memory.with_suffix(".new")
    draft.write_text(json.dumps(wanted), "utf-8")
    draft.rename(memory)


def _memory(root: Path, agent_id: str) -> Path:
    return root / _MEMORY / f"{agent_id}.json"


def remembered(root: Path, agent_id: str) -> dict[str, str]:
    """What was placed in an agent's folder: the SHA-256 of each file, in hex, by its path."""
    try:
        found = json.loads(_memory(root, agent_id).read_text("utf-8"))
    except (OSError, ValueError):
        return {}  # the first time; or a crash while it was written: all is placed again
    return found if isinstance(found, dict) else {}


def forget(root: Path, agent_id: str) -> None:
    """An agent is gone, and its folder with it."""
    _memory(root, agent_id).unlink(missing_ok=True)
