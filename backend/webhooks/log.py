"""The delivery log of an endpoint, and sending again what it has."""

from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import tell
from backend.db import Write, new_id, now
from backend.errors import BadRequest, Conflict, NotFound
from backend.fields import timestamp
from backend.keyset import Page
from backend.requests.accept import accept
from backend.requests.models import RequestRow
from backend.requests.service import Step
from backend.webhooks import events, sending, service
from backend.webhooks.models import DeliveryRow, EndpointRow
from backend.webhooks.schemas import (
    Delivery,
    DeliveryList,
    DeliveryStatus,
    EndpointStatus,
    EventType,
    RecoveryAccepted,
    Try,
)

RECOVER = "webhook.recover"
BATCH = 200
"""Deliveries that one transaction of a recovery sends again."""
OFF = "The endpoint is disabled; enable it first."


async def page(
    context: Context, webhook_id: UUID, page: Page, status: DeliveryStatus | None, event_type: EventType | None
) -> DeliveryList:
    """A page of an endpoint's deliveries."""
    await service.find(context, webhook_id)
    table = sa.inspect(DeliveryRow).local_table
    query = sa.select(*table.c).where(table.c.endpoint_id == webhook_id, _is_shown(context))
    if status is not None:
        query = query.where(table.c.status == status)
    if event_type is not None:
        query = query.where(table.c.event_type == event_type)
    rows = (await context.session.execute(page.apply(query, table.c.created_at, table.c.id))).all()
    shown, cursor = page.cut(rows)
    return DeliveryList(deliveries=[_read(r._mapping) for r in shown], nextCursor=cursor)


def _is_shown(context: Context) -> sa.ColumnElement[bool]:
    """Whether the caller may see a delivery: a key what its own organization did; a person without a second factor
    nothing of an organization that requires one."""
    place = sa.cast(col(DeliveryRow.payload), JSONB)["data"]["organization_id"].astext
    if context.key is not None:
        is_own: sa.ColumnElement[bool] = place == str(context.organization_id)
        return is_own
    if context.person is None or context.person.has_factor:
        return sa.true()
    return sa.not_(sa.func.signum_requires_factor(sa.cast(place, sa.Uuid), type_=sa.Boolean()))


def _read(row: Any) -> Delivery:
    tries = [Try.model_validate(t) for t in row["attempts"]]
    payload = orjson.loads(row["payload"])
    return Delivery.model_validate({**row, "webhook_id": row["endpoint_id"], "attempts": tries, "payload": payload})


async def test(context: Context, webhook_id: UUID) -> Delivery:
    """Send an event that means nothing, to this endpoint alone."""
    endpoint = await _enabled(context, webhook_id)
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
    await _tell(context, endpoint.id, "webhook.tested", {"delivery_id": str(row.id)})
    return _read(row.model_dump())


async def replay(context: Context, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Send one delivery again, now, whatever came of it."""
    await _enabled(context, webhook_id)
    mine = (col(DeliveryRow.id) == delivery_id, col(DeliveryRow.endpoint_id) == webhook_id)
    query = sa.select(DeliveryRow).where(*mine, _is_shown(context))
    row: DeliveryRow | None = await context.session.scalar(query.with_for_update())
    if row is None:
        raise NotFound("There is no such delivery in this endpoint's log.")
    await sending.send_again(context.session, row)
    await _tell(context, webhook_id, "webhook.replayed", {"delivery_id": str(row.id)})
    return _read(row.model_dump())


async def _tell(context: Context, webhook_id: UUID, action: str, after: dict[str, Any]) -> None:
    await tell(context.session, context.organization_id, action, ("webhook", webhook_id), None, after)


async def _enabled(context: Context, webhook_id: UUID) -> EndpointRow:
    endpoint = await service.find(context, webhook_id, locked=True)
    if endpoint.status == EndpointStatus.DISABLED:
        raise Conflict(OFF)
    return endpoint


async def recover(context: Context, webhook_id: UUID, since: Any) -> tuple[RecoveryAccepted, RequestRow]:
    """Accept to send again every delivery that has failed since a time."""
    if since > now():
        raise BadRequest("since is in the future.", pointer="/since")
    endpoint = await _enabled(context, webhook_id)
    request = await accept(
        context,
        RECOVER,
        "Send failed deliveries again",
        subject=("webhook", endpoint.id),
        scope=Scope.ORGS_WRITE,
        steps=[Step("send", "Failed deliveries sent again")],
        order=endpoint.id,
        arguments={"since": since.isoformat(), "until": now().isoformat()},
    )
    await _tell(context, endpoint.id, "webhook.recovering", {"since": since.isoformat(), "request_id": str(request.id)})
    accepted = RecoveryAccepted(
        status=request.status,
        request_id=str(request.id),
        message="The failed deliveries are being sent again.",
        webhookId=endpoint.id,
    )
    return accepted, request


async def recover_batch(session: Write, endpoint_id: UUID, since: Any, until: Any) -> int:
    """Send the next failed deliveries again; 0 where none is left, or the endpoint takes none. `until` is when it was
    asked for: what has failed after that is not sent once more by a repetition."""
    endpoint = await session.get(EndpointRow, endpoint_id, with_for_update={"key_share": True})
    if endpoint is None or endpoint.status == EndpointStatus.DISABLED:
        return 0
    query = (
        sa.select(DeliveryRow)
        .where(col(DeliveryRow.endpoint_id) == endpoint_id, col(DeliveryRow.status) == DeliveryStatus.FAILED)
        .where(col(DeliveryRow.created_at) >= since, col(DeliveryRow.updated_at) <= until)
        .order_by(col(DeliveryRow.created_at), col(DeliveryRow.id))
        .limit(BATCH)
        .with_for_update()
    )
    rows = list(await session.scalars(query))
    for row in rows:
        await sending.send_again(session, row)
    return len(rows)
