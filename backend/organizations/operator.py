"""The operator's way out for an organization whose allowed IP ranges shut everybody out."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.bootstrap import outside
from backend.changes import THE_OPERATOR, acting, tell
from backend.db import Write
from backend.errors import CannotStart
from backend.organizations import hierarchy
from backend.organizations.models import OrganizationRow
from backend.settings import Settings


async def clear_ip_ranges(settings: Settings, organization_id: UUID, reason: str) -> list[str]:
    """Let an organization allow every IP address; lines that say what was done. Its audit log keeps the reason. Refuses
    where it has no ranges."""
    async with outside(settings) as session:
        return await _clear(session, organization_id, reason)


async def _clear(session: Write, organization_id: UUID, reason: str) -> list[str]:
    row = await session.get(OrganizationRow, organization_id, with_for_update=True)
    if row is None:
        raise CannotStart(f"There is no organization {organization_id}.")
    above = await _restricting_above(session, organization_id)
    if not row.allowed_ip_ranges:
        raise CannotStart(" ".join([f"{row.name} has no allowed IP ranges; there is nothing to clear.", *above]))
    before, row.allowed_ip_ranges = row.allowed_ip_ranges, []
    was, now = {"allowed_ip_ranges": before}, {"allowed_ip_ranges": [], "reason": reason}
    with acting(THE_OPERATOR):
        await tell(session, row.id, "organization.updated", ("organization", row.id), was, now)
    return [f"{row.name} allows every IP address. It allowed {', '.join(before)}.", *above]


async def _restricting_above(session: Write, organization_id: UUID) -> list[str]:
    """A line for each organization above whose ranges still hold."""
    ids = [place.id for place in (await hierarchy.path(session, organization_id))[:-1]]
    query = sa.select(OrganizationRow).where(
        col(OrganizationRow.id).in_(ids), sa.func.cardinality(OrganizationRow.allowed_ip_ranges) > 0
    )
    rows = (await session.scalars(query.order_by(col(OrganizationRow.created_at)))).all()
    return [f"{r.name} ({r.id}), above it, still allows {', '.join(r.allowed_ip_ranges)} only." for r in rows]
