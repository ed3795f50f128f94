"""`/v1/orgs/{orgId}/drafts`."""

from uuid import UUID

from fastapi import APIRouter, status

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.drafts import service
from backend.drafts.schemas import Draft, DraftKind, DraftWrite

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/drafts", tags=["Organizations"], route_class=GuardedRoute)
OWN = "A draft belongs to a person."


@router.get("/{kind}")
@requires(Scope.ORGS_READ, person=True, because=OWN)
async def get_draft(context: Current, orgId: UUID, kind: DraftKind) -> Draft:
    """Return what you have entered in a form and not sent yet. No one else sees it."""
    return await service.read(context, kind)


@router.put("/{kind}")
@requires(Scope.ORGS_READ, person=True, because=OWN)
async def save_draft(context: Current, orgId: UUID, kind: DraftKind, body: DraftWrite) -> Draft:
    """Save your draft of a form, at most 16 KB, in place of the previous one. It is deleted 30 days after the last
    save."""
    return await service.save(context, kind, body)


@router.delete("/{kind}", status_code=status.HTTP_204_NO_CONTENT)
@requires(Scope.ORGS_READ, person=True, because=OWN)
async def delete_draft(context: Current, orgId: UUID, kind: DraftKind) -> None:
    """Delete your draft of a form. Succeeds without one too."""
    await service.delete(context, kind)
