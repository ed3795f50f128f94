"""Endpoints end with the key or the application's grant that made them, as keys do."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.makers import maker_of
from backend.auth.principal import Context
from backend.core import db
from backend.core.changes import THE_SYSTEM, acting
from backend.core.db import Write
from backend.webhooks import attempts, disabled_email
from backend.webhooks.models import EndpointRow
from backend.webhooks.schemas import DisabledReason, EndpointStatus


async def take(context: Context, row: EndpointRow) -> None:
    """Bind the endpoint to the caller's key or application: it ends with it. A person's endpoint ends with nothing.

    For callers who decide where events go: by creating the endpoint, changing its URL, or enabling it again.
    """
    maker = await maker_of(context)
    row.parent_id, row.grant_id, row.client_id = maker.key_id, maker.grant_id, maker.client_id
    row.made_by = context.user_id


def _is_due() -> sa.ColumnElement[bool]:
    is_made = sa.or_(col(EndpointRow.parent_id).is_not(None), col(EndpointRow.grant_id).is_not(None))
    ended = sa.func.signum_maker_ended(col(EndpointRow.parent_id), col(EndpointRow.grant_id), type_=sa.Boolean())
    return sa.and_(col(EndpointRow.status) == EndpointStatus.ENABLED, is_made, ended)


async def disable_ended(session: Write, *which: sa.ColumnElement[bool], waits: bool = False) -> None:
    """Disable those of some endpoints of an entered organization whose maker has ended, and email the admins. Endpoints
    that another transaction is changing are left to the next run, unless it `waits` for them."""
    query = sa.select(EndpointRow).where(*which, _is_due()).with_for_update(key_share=True, skip_locked=not waits)
    with acting(THE_SYSTEM):
        for row in (await session.scalars(query)).all():
            await attempts.disable(session, row, DisabledReason.MAKER_ENDED)
            await disabled_email.send(session, row, DisabledReason.MAKER_ENDED, None)
        await session.flush()


async def look() -> None:
    """Disable the endpoints of every organization whose maker has ended, for the sweep."""
    async with db.worker() as session:
        query = sa.select(col(EndpointRow.id), col(EndpointRow.organization_id)).where(_is_due())
        due: list[Any] = list((await session.execute(query)).all())
    for row in due:
        await _disable(row.organization_id, row.id)


async def _disable(organization_id: UUID, endpoint_id: UUID) -> None:
    async with db.step(organization_id) as session:
        await disable_ended(session, col(EndpointRow.id) == endpoint_id)
