"""Endpoints that would receive more events than a day stores are disabled."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.db import Write
from backend.webhooks import attempts, disabled_email, makers
from backend.webhooks.models import EndpointRow
from backend.webhooks.schemas import DisabledReason

KEPT = (DisabledReason.TOO_MANY_EVENTS, DisabledReason.MAKER_ENDED)
"""Reasons that stay. Other disabled endpoints get the new one, because their logs are no longer complete."""


async def disable(organization_id: UUID, endpoint_ids: Sequence[UUID]) -> None:
    """Disable endpoints of one organization, and email its admins once."""
    which = col(EndpointRow.id).in_(endpoint_ids)
    async with db.step(organization_id) as session:
        await makers.disable_ended(session, which)
        rows = await _open(session, which)
        for row in rows:
            await attempts.disable(session, row, DisabledReason.TOO_MANY_EVENTS)
        if rows:
            await disabled_email.send(session, rows[0], DisabledReason.TOO_MANY_EVENTS, None)


async def _open(session: Write, which: sa.ColumnElement[bool]) -> list[EndpointRow]:
    reason = sa.func.coalesce(col(EndpointRow.disabled_reason), "")
    query = sa.select(EndpointRow).where(which, reason.not_in(KEPT)).order_by(col(EndpointRow.id))
    return list(await session.scalars(query.with_for_update(key_share=True)))
