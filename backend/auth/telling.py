"""What a person does about themselves is told in every organization they are a member of: each of them trusts it."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.auth.models import SessionRow
from backend.changes import tell, unlocated
from backend.db import widen

SHOWN = ("kind", "signed_in_at")
"""Of a session. Browser and address are the person's own; no organization reads them."""


async def tell_of_person(
    session: AsyncSession,
    person: UUID,
    action: str,
    subject: tuple[str, UUID | str],
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Tell of something that concerns a person wherever they are; from where they did it is their own."""
    places = await session.execute(sa.text("select distinct id from signum_memberships(:person)"), {"person": person})
    with unlocated():
        for organization_id in places.scalars().all():
            await widen(session, organization_id)
            await tell(session, organization_id, action, subject, before, after)


async def tell_of_end(session: AsyncSession, row: SessionRow) -> None:
    """Tell that a session has ended: an application's where the application is from, any other one everywhere."""
    subject, record = ("session", row.id), row.model_dump(mode="json", include=set(SHOWN))
    if row.client_id is None or row.organization_id is None:
        await tell_of_person(session, row.user_id, "session.ended", subject, record)
        return
    await widen(session, row.organization_id)
    await tell(session, row.organization_id, "session.ended", subject, record | {"client_id": str(row.client_id)})
