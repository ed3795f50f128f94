"""How much one organization may keep: without limits, one tenant could fill the disk or multiply its rate limits."""

from uuid import UUID

import sqlalchemy as sa

from backend.auth import rate_limit
from backend.db import Write
from backend.errors import Conflict

API_KEYS = 200
"""Keys of an organization that work: neither revoked nor expired. Each has a rate limit of its own."""
OAUTH_CLIENTS = 100
"""OAuth clients of an organization."""


async def check(session: Write, organization_id: UUID, count: sa.Select[int], most: int, what: str) -> None:
    """Refuse one more where an organization has as many as it may. Those who add at once wait for each other.

    Raises Conflict (409).
    """
    await queue(session, organization_id)
    if (await session.scalar(count) or 0) >= most:
        raise Conflict(f"An organization has at most {most} {what} first.")


async def queue(session: Write, organization_id: UUID) -> None:
    """Wait for everybody else who adds something to an organization, until the transaction ends."""
    await session.execute(
        sa.text("select from organizations where id = :id for no key update"), {"id": organization_id}
    )


async def count_organization(session: Write, parent_id: UUID) -> None:
    """Count a new organization below another one. Raises TooManyRequests where its hierarchy has grown enough today."""
    root = sa.text("select id from signum_path(:id) order by height desc limit 1")
    await rate_limit.hit(
        rate_limit.ORGANIZATIONS_BELOW, "organizations below", str(await session.scalar(root, {"id": parent_id}))
    )
