"""When connections were last used: gathered in memory, written down once a minute."""

from __future__ import annotations

import logging

from agentworks.contracts.operation import Caller
from agentworks.store import Full, Held, Store, Transaction
from agentworks.tables import connections

log = logging.getLogger("agentworks.last_used")

_BATCH_MAX = 200  # connections noted in one transaction, so that it stays short


class LastUsed:
    """A note costs no transaction. What is noted is to the minute, and lost with a crash."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._used: set[str] = set()

    def note(self, caller: Caller) -> None:
        """It was let in just now. May be called on any thread."""
        if caller.connection_id:
            self._used.add(caller.connection_id)

    async def flush(self) -> None:
        """Write down who was seen since the last flush. What cannot be written waits."""
        used, self._used = self._used, set()
        seen = sorted(used)
        for start in range(0, len(seen), _BATCH_MAX):
            batch = seen[start : start + _BATCH_MAX]

            def touch(tx: Transaction, batch: list[str] = batch) -> None:
                for connection_id in batch:
                    connections.touch(tx, connection_id)

            try:
                await self._store.transact(touch)
            except (Full, Held) as cannot:
                log.warning("last uses wait for the next minute: %s", type(cannot).__name__)
                self._used.update(seen[start:])
                return
