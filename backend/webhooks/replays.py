"""Single deliveries: a test event, and one that is sent again."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.core.changes import publish
from backend.core.db import new_id, now
from backend.core.errors import Conflict, NotFound
from backend.core.fields import timestamp
from backend.webhooks import attempts, delivery_limits, delivery_log, events, service
from backend.webhooks.models import DeliveryRow, EndpointRow
from backend.webhooks.schemas import (
    Delivery,
    EndpointStatus,
    EventType,
)

OFF = "The endpoint is disabled. Enable it first."


async def test(context: Context, webhook_id: UUID) -> Delivery:
    """Send a test event to this endpoint alone."""
    endpoint = await enabled(context, webhook_id)
    await delivery_limits.count_one(context.session, endpoint)
    at = now()
    data = {"object": "webhook", "id": str(endpoint.id), "organization_id": str(endpoint.organization_id)}
    row = DeliveryRow(
        organization_id=endpoint.organization_id,
        endpoint_id=endpoint.id,
        event_id=new_id(),
        event_type=EventType.WEBHOOK_TEST,
        payload=events.payload(EventType.WEBHOOK_TEST, timestamp(at), data),
        created_at=at,
        updated_at=at,
        next_attempt_at=at,
    )
    context.session.add(row)
    await context.session.flush()
    await events.queue(context.session, row.organization_id, row.endpoint_id, row.id, row.run)
    await note(context, endpoint.id, "webhook.tested", {"delivery_id": str(row.id)})
    return delivery_log.read(row.model_dump())


async def replay(context: Context, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Send one delivery again now, regardless of its result."""
    await enabled(context, webhook_id)
    mine = (col(DeliveryRow.id) == delivery_id, col(DeliveryRow.endpoint_id) == webhook_id)
    query = sa.select(DeliveryRow).where(*mine, delivery_log.is_shown(context))
    row: DeliveryRow | None = await context.session.scalar(query.with_for_update())
    if row is None:
        raise NotFound(delivery_log.UNKNOWN)
    await attempts.send_again(context.session, row)
    await note(context, webhook_id, "webhook.replayed", {"delivery_id": str(row.id)})
    return delivery_log.read(row.model_dump())


async def note(context: Context, webhook_id: UUID, action: str, after: dict[str, Any]) -> None:
    """Write an action on an endpoint to the audit log."""
    await publish(context.session, context.organization_id, action, ("webhook", webhook_id), None, after)


async def enabled(context: Context, webhook_id: UUID) -> EndpointRow:
    """Return an endpoint for its change; Conflict where it is disabled."""
    endpoint = await service.find(context, webhook_id, locked=True)
    if endpoint.status == EndpointStatus.DISABLED:
        raise Conflict(OFF)
    return endpoint
