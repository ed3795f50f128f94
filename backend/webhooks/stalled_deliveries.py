"""Periodic work on webhooks: resume stalled attempts, delete old deliveries from the log."""

from datetime import timedelta

import sqlalchemy as sa
import structlog
from dbos import DBOS
from sqlmodel import col

from backend.core import db
from backend.core.db import now
from backend.webhooks import attempts, events
from backend.webhooks.models import DeliveryRow, EndpointRow
from backend.webhooks.schemas import DeliveryStatus

log = structlog.get_logger()
OVERDUE = timedelta(minutes=1)
"""An attempt that is overdue by less is left to its queue."""
BATCH = 500
AT_WORK = {"ENQUEUED", "DELAYED", "PENDING"}


async def look() -> None:
    """Run once a minute, over every organization."""
    async with db.worker() as session:
        await attempts.forget(session)
    waiting = await _overdue()
    at_work = await _at_work([events.run_id(row.id, row.run) for row in waiting])
    lost = [row for row in waiting if events.run_id(row.id, row.run) not in at_work]
    for row in lost:
        await _resume(row)
    if lost:
        log.warning("webhook_delivery.resumed", count=len(lost))


async def _overdue() -> list[DeliveryRow]:
    """Return overdue deliveries, the oldest of each tenant first: a tenant's backlog hides no other tenant's."""
    due = col(DeliveryRow.next_attempt_at)
    tenant = sa.func.coalesce(col(EndpointRow.made_by), col(EndpointRow.organization_id))
    ranked = (
        sa.select(col(DeliveryRow.id), sa.func.row_number().over(partition_by=tenant, order_by=due).label("rank"))
        .join(EndpointRow, col(EndpointRow.id) == col(DeliveryRow.endpoint_id))
        .where(col(DeliveryRow.status) == DeliveryStatus.PENDING, due < now() - OVERDUE)
        .subquery()
    )
    query = sa.select(DeliveryRow).join(ranked, ranked.c.id == col(DeliveryRow.id))
    async with db.worker() as session:
        return list(await session.scalars(query.order_by(ranked.c.rank, due).limit(BATCH)))


async def _at_work(ids: list[str]) -> set[str]:
    if not ids:
        return set()
    known = await DBOS.list_workflows_async(workflow_ids=ids, load_input=False, load_output=False)
    return {w.workflow_id for w in known if w.status in AT_WORK}


async def _resume(seen: DeliveryRow) -> None:
    async with db.step(seen.organization_id) as session:
        row = await session.get(DeliveryRow, seen.id, with_for_update=True)
        if row is not None and row.run == seen.run and row.status == DeliveryStatus.PENDING:
            await attempts.resume(session, row)
