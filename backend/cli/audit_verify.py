"""Verification of audit chains by the operator."""

from uuid import UUID

from backend.audit import verification
from backend.audit.schemas import AuditVerification
from backend.cli.database import outside
from backend.core import db
from backend.core.errors import CannotStart
from backend.core.settings import Settings

Finding = tuple[UUID, str, AuditVerification]
"""An organization's id and name, and the result."""


async def verify(settings: Settings, organization_id: UUID | None) -> list[Finding]:
    """Verify the chain of one organization, or of all; needs only the database, not a running server."""
    async with outside(settings) as session:
        return [await _finding(session, *o) for o in await _chosen(session, organization_id)]


async def _chosen(session: db.Write, organization_id: UUID | None) -> list[tuple[UUID, str]]:
    known = await verification.organizations(session)
    if organization_id is None:
        return known
    chosen = [o for o in known if o[0] == organization_id]
    if not chosen:
        raise CannotStart(f"The organization {organization_id} has no audit log.")
    return chosen


async def _finding(session: db.Write, organization_id: UUID, name: str) -> Finding:
    return organization_id, name, await verification.verify(session, organization_id)
