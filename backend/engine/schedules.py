"""Nightly schedules: the engine runs each once per night in the installation, at an hour of UTC (`SIGNUM_NIGHTLY_HOUR`)
or some hours later.

Every process with the engine, workers included, puts a night's run into the queue when its hour comes. The run's id
contains the hour, so it exists once. Only servers work on the queue. The run of a killed or stopped server starts again
in another one, or after the next start. A night in which no process is up has no run.

The engine keeps schedules as rows. To remove or rename one, delete its row in a migration.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from dbos import DBOS, ScheduleInput

from backend.core.settings import settings
from backend.engine.queues import NIGHTLY

log = structlog.get_logger()
RECOVERIES = 2
"""How often a run that does not end starts again: it may be what ends its server."""


@dataclass(frozen=True)
class Nightly:
    """Nightly work: a registered workflow, and how many hours after the installation's nightly hour it runs."""

    name: str
    workflow: Callable[[object, object], Coroutine[Any, Any, None]]
    hours_later: int = 0

    def schedule(self) -> ScheduleInput:
        """Return its schedule in this installation."""
        return {
            "schedule_name": self.name,
            "workflow_fn": self.workflow,
            "schedule": f"0 {(settings().nightly_hour + self.hours_later) % 24} * * *",
            "context": "",
            "queue_name": NIGHTLY,
        }


def nightly(name: str, work: Callable[[], Awaitable[object]], failed: str, hours_later: int = 0) -> Nightly:
    """Register some work as a workflow.

    A failure is logged, and the work runs again the next night.
    """

    async def once() -> None:
        await work()

    @DBOS.workflow(name=name, max_recovery_attempts=RECOVERIES)
    async def run(_due: object, _context: object) -> None:
        try:
            # A step, in which the engine's own functions are ordinary calls: their results are not kept in rows.
            await DBOS.run_step_async({"name": name}, once)
        except Exception:
            log.exception(failed)
            raise

    return Nightly(name, run, hours_later)


async def start(works: Sequence[Nightly]) -> None:
    """Write the schedules. Safe to repeat, and in several processes."""
    await DBOS.apply_schedules_async([work.schedule() for work in works])
