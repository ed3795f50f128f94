"""Removal of approval requirements by the operator when no one is left who could approve.

Needs database access; the API does not offer it.
"""

from uuid import UUID

from backend.approvals.removal import lift_within
from backend.cli.database import outside
from backend.core.settings import Settings


async def lift(settings: Settings, organization_id: UUID, reason: str) -> list[str]:
    """Remove all approval requirements of an organization: for actions, and for amounts above a daily limit.

    Returns lines that describe what was done; the audit log records it with the reason. Refuses where there is no
    requirement.
    """
    async with outside(settings) as session:
        return await lift_within(session, organization_id, reason)
