"""Waiting for the end of a workflow's run without frequent polls."""

import asyncio
from typing import Any
from uuid import UUID

from dbos import DBOS

from backend.core import db
from backend.core.runtime import runtime
from backend.engine.queue_wakeup import Wakeups
from backend.requests.models import RequestRow
from backend.requests.schemas import FINAL
from backend.requests.service import GROUP

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


async def ended(organization_id: UUID, request_id: UUID, attempt: int = 1) -> None:
    """Wait for the end of a request's run: of its group first, and of its own if the group left it."""
    if attempt == 1 and (group := (await _request(organization_id, request_id)).arguments.get(GROUP)):
        await result_of(group)
        if (await _request(organization_id, request_id)).status in FINAL:
            return
    await result_of(f"{request_id}:{attempt}")


async def _request(organization_id: UUID, request_id: UUID) -> RequestRow:
    async with db.transaction(organization_id) as session:
        row: RequestRow = await session.get_one(RequestRow, request_id)
    return row


def _wait_for_a_wakeup(seen: int) -> None:
    wakeups = runtime.part(Wakeups)
    with wakeups.condition:
        wakeups.condition.wait_for(lambda: wakeups.counts.total() != seen, ELSEWHERE)
