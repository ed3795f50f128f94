"""Progress of this process's engine: what decides whether its lease is renewed, and what readiness reports."""

import asyncio
import time
from dataclasses import dataclass, field

from backend.core.runtime import runtime
from backend.engine import dbos_internals, leases, queue_wakeup

PATIENCE = 5.0
"""Seconds within which the event loop of the workflows must respond."""
LONGEST_POLL = 60.0
"""Seconds after which a queue's thread that does not return from the database counts as hanging."""


@dataclass
class Progress:
    """The last renewal of the lease, by `time.monotonic`, and what prevents the next one."""

    renewed_at: float = field(default_factory=time.monotonic)
    obstacle: str | None = None

    def note(self, obstacle: str | None) -> None:
        """Record a renewal, or why there was none."""
        self.obstacle = obstacle
        if obstacle is None:
            self.renewed_at = time.monotonic()


async def obstacle() -> str | None:
    """Return what does not make progress; None if everything does."""
    loop = dbos_internals.loop()
    if loop is None:
        return None  # it is starting
    if not loop.is_running():
        return "the event loop of the workflows has ended"
    answer = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop))
    try:
        await asyncio.wait_for(answer, PATIENCE)
    except TimeoutError:
        return "the event loop of the workflows does not respond"
    hanging = queue_wakeup.hanging(LONGEST_POLL)
    return f"the queue {hanging[0]} is not served" if hanging else None


def fault() -> str | None:
    """Return why this process's engine counts as dead; None if it lives."""
    progress = runtime.part(Progress)
    silent = time.monotonic() - progress.renewed_at
    if silent < leases.LEASE:
        return None
    reason = progress.obstacle or "its lease cannot be renewed"
    return f"The workflow engine has made no progress for {silent:.0f} s: {reason}."
