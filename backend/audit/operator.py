"""The operator's look at every chain."""

from uuid import UUID

from backend import db
from backend.audit import verifying
from backend.audit.schemas import AuditVerification
from backend.auth.bootstrap import outside
from backend.errors import CannotStart
from backend.settings import Settings

Finding = tuple[UUID, str, AuditVerification]
"""An organization's id and name, and what was found."""


async def verify(settings: Settings, organization_id: UUID | None) -> list[Finding]:
    """Verify the chain of one organization, or of every one; needs no running server but the database's."""
    async with outside(settings) as session:
        return [await _finding(session, *o) for o in await _chosen(session, organization_id)]


async def _chosen(session: db.Write, organization_id: UUID | None) -> list[tuple[UUID, str]]:
    known = await verifying.organizations(session)
    if organization_id is None:
        return known
    chosen = [o for o in known if o[0] == organization_id]
    if not chosen:
        raise CannotStart(f"There is no audit log of the organization {organization_id}.")
    return chosen


async def _finding(session: db.Write, organization_id: UUID, name: str) -> Finding:
    return organization_id, name, await verifying.verify(session, organization_id)
