"""What is done once a night."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import structlog

log = structlog.get_logger()
HOUR = 3
"""Of the night, UTC."""


async def every_night(
    stopping: asyncio.Event, work: Callable[[], Awaitable[object]], failed: str, hour: int = HOUR
) -> None:
    """Do some work every night until the process stops. One that fails is logged, and done again the next night."""
    while not stopping.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), until(datetime.now(UTC), hour))
            return
        try:
            await work()
        except Exception:
            log.exception(failed)


def until(time: datetime, hour: int = HOUR) -> float:
    """Seconds to the next night's hour."""
    due = time.replace(hour=hour, minute=0, second=0, microsecond=0)
    return ((due if due > time else due + timedelta(days=1)) - time).total_seconds()
