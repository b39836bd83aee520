"""Outputs of calls that were kept long enough: removed, and said to be, while their record stays.

[S0] "Crew call outputs": seven days after the last change of a call's folder, swept at most hourly
per Crew on later function activity. A call that may still run is protected.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path

from agentworks import clock
from agentworks.rules import limits
from agentworks.runners import folders
from agentworks.store import Full, Held, Store, Transaction
from agentworks.tables import calls, executions

_LOG = logging.getLogger("agentworks.turns")
_DAY = 86_400_000  # milliseconds
_BATCH_MAX = 200  # folders removed in one sweep; the rest wait for the next


class Sweeper:
    """Sweeps the folders of agents below `root`."""

    def __init__(self, store: Store, root: Path) -> None:
        self._store = store
        self._root = root
        self._swept_at: dict[str, int] = {}

    async def after_activity(self, agent_id: str) -> None:
        """Sweep an agent's calls, unless that was done within the hour. Never raises."""
        now = clock.now()
        since = now - self._swept_at.get(agent_id, 0)
        if since < limits.CALL_OUTPUT_SWEEP_SECONDS * 1_000:
            return
        self._swept_at[agent_id] = now
        try:
            await self._sweep(agent_id, now - limits.CALL_OUTPUT_DAYS_MAX * _DAY)
        except (OSError, Full, Held) as cannot:
            _LOG.warning("outputs of %s are not swept: %s", agent_id, cannot)

    async def _sweep(self, agent_id: str, before: int) -> None:
        base = self._root / agent_id / ".calls"
        old = await asyncio.to_thread(_older, base, before)
        if not old:
            return
        for name in await self._store.transact(lambda tx: _expired(tx, old)):
            await asyncio.to_thread(folders.remove, base / name)


def _older(base: Path, before: int) -> list[str]:
    """The call folders in which nothing was made or removed since `before` (milliseconds)."""
    found: list[str] = []
    with contextlib.suppress(FileNotFoundError):
        for folder in sorted(base.iterdir()):
            if len(found) < _BATCH_MAX and _changed_at(folder) < before:
                found.append(folder.name)
    return found


def _changed_at(folder: Path) -> int:
    """When a folder or one directly inside it last changed, in milliseconds; 0 when it is gone."""
    latest = 0
    with contextlib.suppress(OSError):
        inner = [each for each in folder.iterdir() if each.is_dir() and not each.is_symlink()]
        for each in (folder, *inner):
            latest = max(latest, each.stat(follow_symlinks=False).st_mtime_ns // 1_000_000)
    return latest


def _expired(tx: Transaction, names: Sequence[str]) -> list[str]:
    """Of these calls, those that run no more; their record says from now on that files are gone."""
    found = []
    for name in names:
        call = executions.called(tx, name)
        if call is not None and (call.state == "working" or call.holds_slot):
            continue
        calls.expire_files(tx, name)
        found.append(name)
    return found
