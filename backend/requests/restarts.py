"""Restarts of runs after a fault of the database, which is not a reason to fail their requests."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import structlog

from backend.core import db

log = structlog.get_logger()
PAUSES = (1.0, 2.0, 5.0, 10.0, *[30.0] * 20)
"""Seconds before each restart, 10 minutes together. A fault after the last one ends the run, and the sweep its
request."""


async def despite_faults(run: Callable[[], Awaitable[None]], request_id: UUID) -> None:
    """Run until the database did not fail: from the start, as after a crash."""
    for pause in PAUSES:
        try:
            return await run()
        except db.FAULTS as fault:
            reason = str(getattr(fault, "orig", None) or fault).partition("\n")[0]
            log.warning("workflow.postponed", request=str(request_id), seconds=pause, reason=reason)
        await asyncio.sleep(pause)
    await run()
