"""What the sweep does for webhooks: takes up attempts that nobody makes, forgets what is too old for the log."""

from datetime import timedelta

import sqlalchemy as sa
import structlog
from dbos import DBOS
from sqlmodel import col

from backend import db
from backend.db import now
from backend.webhooks import events, sending
from backend.webhooks.models import DeliveryRow
from backend.webhooks.schemas import DeliveryStatus

log = structlog.get_logger()
OVERDUE = timedelta(minutes=1)
"""An attempt that is due for less is left to its queue."""
AT_ONCE = 500
AT_WORK = {"ENQUEUED", "DELAYED", "PENDING"}


async def look() -> None:
    """Once a minute, over every organization."""
    async with db.worker() as session:
        await sending.forget(session)
    waiting = await _overdue()
    at_work = await _at_work([events.run_id(row.id, row.run) for row in waiting])
    lost = [row for row in waiting if events.run_id(row.id, row.run) not in at_work]
    for row in lost:
        await _resume(row)
    if lost:
        log.warning("took up webhook deliveries that nobody worked on", count=len(lost))


async def _overdue() -> list[DeliveryRow]:
    query = (
        sa.select(DeliveryRow)
        .where(col(DeliveryRow.status) == DeliveryStatus.PENDING)
        .where(col(DeliveryRow.next_attempt_at) < now() - OVERDUE)
        .order_by(col(DeliveryRow.next_attempt_at))
        .limit(AT_ONCE)
    )
    async with db.worker() as session:
        return list(await session.scalars(query))


async def _at_work(ids: list[str]) -> set[str]:
    if not ids:
        return set()
    known = await DBOS.list_workflows_async(workflow_ids=ids, load_input=False, load_output=False)
    return {w.workflow_id for w in known if w.status in AT_WORK}


async def _resume(seen: DeliveryRow) -> None:
    async with db.step(seen.organization_id) as session:
        row = await session.get(DeliveryRow, seen.id, with_for_update=True)
        if row is not None and row.run == seen.run and row.status == DeliveryStatus.PENDING:
            await sending.resume(session, row)
