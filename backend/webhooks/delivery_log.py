"""The delivery log of an endpoint."""

from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import col

from backend.auth.principal import Context
from backend.core.errors import NotFound
from backend.core.pagination import where_given
from backend.lists.pages import Listing, Page
from backend.webhooks import service
from backend.webhooks.models import DeliveryRow
from backend.webhooks.schemas import (
    Delivery,
    DeliveryList,
    DeliveryStatus,
    EventType,
    Try,
)

DELIVERIES = sa.inspect(DeliveryRow).local_table
LIST = Listing.of(DELIVERIES.c, "created_at", names=(DELIVERIES.c.event_type,), codes=(DELIVERIES.c.event_id,))
UNKNOWN = "There is no delivery with this ID in this endpoint's log."


async def page(
    context: Context, webhook_id: UUID, page: Page, status: DeliveryStatus | None, event_type: EventType | None
) -> DeliveryList:
    """Return a page of an endpoint's deliveries."""
    await service.find(context, webhook_id)
    query = sa.select(*DELIVERIES.c).where(DELIVERIES.c.endpoint_id == webhook_id, is_shown(context))
    query = where_given(query, (DELIVERIES.c.status, status), (DELIVERIES.c.event_type, event_type))
    shown, paging = await page.read(context.session, query)
    return DeliveryList(deliveries=[read(r._mapping) for r in shown], **paging)


async def one(context: Context, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Return a delivery of an endpoint; NotFound where the caller may not see it."""
    await service.find(context, webhook_id)
    mine = (DELIVERIES.c.id == delivery_id, DELIVERIES.c.endpoint_id == webhook_id)
    query = sa.select(*DELIVERIES.c).where(*mine, is_shown(context))
    if (row := (await context.session.execute(query)).first()) is None:
        raise NotFound(UNKNOWN)
    return read(row._mapping)


def is_shown(context: Context) -> sa.ColumnElement[bool]:
    """Return whether the caller may see a delivery: a key sees its own organization's; a person without a second factor
    sees none of an organization that requires one."""
    place = sa.cast(col(DeliveryRow.payload), JSONB)["data"]["organization_id"].astext
    if context.key is not None:
        is_own: sa.ColumnElement[bool] = place == str(context.organization_id)
        return is_own
    if context.person is None or context.person.has_factor:
        return sa.true()
    return sa.not_(sa.func.signum_requires_factor(sa.cast(place, sa.Uuid), type_=sa.Boolean()))


def read(row: Any) -> Delivery:
    """Return a delivery of the API from a row of its table."""
    tries = [Try.model_validate(t) for t in row["attempts"]]
    payload = orjson.loads(row["payload"])
    return Delivery.model_validate({**row, "webhook_id": row["endpoint_id"], "attempts": tries, "payload": payload})
