"""Removal of allowed IP ranges by the operator, for an organization whose ranges lock everyone out."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.cli.database import outside
from backend.core.changes import THE_OPERATOR, acting, publish
from backend.core.db import Write
from backend.core.errors import CannotStart
from backend.core.settings import Settings
from backend.organizations import hierarchy
from backend.organizations.models import OrganizationRow


async def clear_ip_ranges(settings: Settings, organization_id: UUID, reason: str) -> list[str]:
    """Let an organization allow every IP address; return lines that describe what was done.

    Its audit log keeps the reason. Refuses where it has no ranges.
    """
    async with outside(settings) as session:
        return await _clear(session, organization_id, reason)


async def _clear(session: Write, organization_id: UUID, reason: str) -> list[str]:
    row = await session.get(OrganizationRow, organization_id, with_for_update=True)
    if row is None:
        raise CannotStart(f"No organization has the ID {organization_id}.")
    above = await _restricting_above(session, organization_id)
    if not row.allowed_ip_ranges:
        raise CannotStart(" ".join([f"{row.name} has no allowed IP ranges to clear.", *above]))
    before, row.allowed_ip_ranges = row.allowed_ip_ranges, []
    was, now = {"allowed_ip_ranges": before}, {"allowed_ip_ranges": [], "reason": reason}
    with acting(THE_OPERATOR):
        await publish(session, row.id, "organization.updated", ("organization", row.id), was, now)
    return [f"{row.name} now allows every IP address. It previously allowed {', '.join(before)}.", *above]


async def _restricting_above(session: Write, organization_id: UUID) -> list[str]:
    """Return a line for each organization above whose ranges still apply."""
    ids = [place.id for place in (await hierarchy.path(session, organization_id))[:-1]]
    query = sa.select(OrganizationRow).where(
        col(OrganizationRow.id).in_(ids), sa.func.cardinality(OrganizationRow.allowed_ip_ranges) > 0
    )
    rows = (await session.scalars(query.order_by(col(OrganizationRow.created_at)))).all()
    return [f"{r.name} ({r.id}), above it, still allows only {', '.join(r.allowed_ip_ranges)}." for r in rows]
