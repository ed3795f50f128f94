"""Account events: changes of a person's account, published in every organization they are a member of."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.auth.models import SessionRow
from backend.core.changes import publish, unlocated
from backend.core.db import widen

SHOWN = ("kind", "signed_in_at")
"""Published fields of a session. Browser and address are private to the person; no organization reads them."""


async def publish_account_change(
    session: AsyncSession,
    person: UUID,
    action: str,
    subject: tuple[str, UUID | str],
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Publish a change of a person's account in all their organizations, without the IP address."""
    places = await session.execute(sa.text("select distinct id from signum_memberships(:person)"), {"person": person})
    with unlocated():
        for organization_id in places.scalars().all():
            await widen(session, organization_id)
            await publish(session, organization_id, action, subject, before, after)


async def publish_session_end(session: AsyncSession, row: SessionRow) -> None:
    """Publish the end of a session: an application's in its organization, any other in all the person's."""
    subject, record = ("session", row.id), row.model_dump(mode="json", include=set(SHOWN))
    if row.client_id is None or row.organization_id is None:
        await publish_account_change(session, row.user_id, "session.ended", subject, record)
        return
    await widen(session, row.organization_id)
    await publish(session, row.organization_id, "session.ended", subject, record | {"client_id": str(row.client_id)})
