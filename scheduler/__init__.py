"""Time as a caller. APScheduler only rings the clock; what is due is a row."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from msgspec import Struct

from agentworks.store import Full, Held, Store, Transaction
from scheduler.retention import forget_what_is_over
from scheduler.wakeups import fire_due_wakeups

log = logging.getLogger("agentworks.scheduler")


class Job(Struct, frozen=True):
    """A bounded sweep: safe to miss, safe to repeat, told what time it is."""

    name: str
    every_seconds: int
    sweep: Callable[[Transaction], Struct]


JOBS = (
    Job("fire_due_wakeups", 60, fire_due_wakeups),
    Job("forget_what_is_over", 3_600, forget_what_is_over),
)


def clockwork(store: Store, flush: Callable[[], Awaitable[None]]) -> AsyncIOScheduler:
    """The clock that ticks JOBS, and `flush` each minute. Start and stop it with the server.

    A late tick is not dropped and missed ones become one (facts/stack §7).
    """

    async def tick(job: Job) -> None:
        try:
            report = await store.transact(job.sweep)
        except (Full, Held) as cannot:
            log.warning("%s waits for its next tick: %s", job.name, type(cannot).__name__)
        else:
            log.info("%s: %s", job.name, report)

    clock = AsyncIOScheduler(timezone="UTC")
    settings = {"max_instances": 1, "coalesce": True, "misfire_grace_time": None}
    for job in JOBS:
        clock.add_job(tick, "interval", (job,), id=job.name, seconds=job.every_seconds, **settings)
    clock.add_job(flush, "interval", id="last_used", seconds=60, **settings)
    return clock
