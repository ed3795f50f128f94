"""Waiting for the end of a workflow's run without frequent polls."""

import asyncio
from typing import Any

from dbos import DBOS

from backend.core.runtime import runtime
from backend.engine.queue_wakeup import Wakeups

ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
ELSEWHERE = 0.5
"""Seconds between two looks at a run, which another process may end."""


async def result_of(run_id: str) -> Any:
    """Return the result of a run when it has ended; raise its error."""
    handle: Any = await DBOS.retrieve_workflow_async(run_id)
    while True:
        seen = runtime.part(Wakeups).counts.total()
        if (await handle.get_status()).status in ENDED:
            return await handle.get_result()
        await asyncio.to_thread(_wait_for_a_wakeup, seen)


def _wait_for_a_wakeup(seen: int) -> None:
    wakeups = runtime.part(Wakeups)
    with wakeups.condition:
        wakeups.condition.wait_for(lambda: wakeups.counts.total() != seen, ELSEWHERE)
