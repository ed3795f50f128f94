"""Limit how many requests of a tenant the operator pays for on public chains."""

from uuid import UUID

import sqlalchemy as sa

from backend.auth import rate_limit
from backend.db import Write


async def count(session: Write, organization_id: UUID) -> None:
    """Count a request whose transactions the operator signs and pays. Raises TooManyRequests where an organization, or
    its whole hierarchy, had its share of the day."""
    text = sa.text("select id from signum_path(:id) order by height desc limit 1")
    root = await session.scalar(text, {"id": organization_id})
    await rate_limit.hit(rate_limit.OPERATOR_PAID, "operator paid", str(organization_id))
    await rate_limit.hit(rate_limit.OPERATOR_PAID_IN_ALL, "operator paid below", str(root))
