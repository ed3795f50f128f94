"""Nightly schedules: the engine runs each once per night in the installation, at an hour of UTC.

Every process with the engine, workers included, puts a night's run into the queue when its hour comes. The run's id
contains the hour, so it exists once. Only servers work on the queue. The run of a killed or stopped server starts again
in another one, or after the next start. A night in which no process is up has no run.

The engine keeps schedules as rows. To remove or rename one, delete its row in a migration.
"""

from collections.abc import Awaitable, Callable, Sequence

import structlog
from dbos import DBOS, ScheduleInput

from backend.engine.queues import NIGHTLY

log = structlog.get_logger()
HOUR = 3
"""UTC hour."""
RECOVERIES = 2
"""How often a run that does not end starts again: it may be what ends its server."""


def nightly(name: str, work: Callable[[], Awaitable[object]], failed: str, hour: int = HOUR) -> ScheduleInput:
    """Register some work as a workflow; return its schedule.

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

    return {
        "schedule_name": name,
        "workflow_fn": run,
        "schedule": f"0 {hour} * * *",
        "context": "",
        "queue_name": NIGHTLY,
    }


async def start(schedules: Sequence[ScheduleInput]) -> None:
    """Write the schedules. Safe to repeat, and in several processes."""
    await DBOS.apply_schedules_async(list(schedules))
