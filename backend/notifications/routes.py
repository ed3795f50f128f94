"""`/v1/orgs/{orgId}/notifications`."""

from uuid import UUID

from fastapi import APIRouter

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.notifications import service
from backend.notifications.schemas import Notifications

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/notifications", tags=["Organizations"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ORGS_READ)
async def get_notifications(context: Current, orgId: UUID) -> Notifications:
    """Return what waits for the caller by their scopes: approvals that they can decide, comments on approvals that they
    asked for, failed requests that they made or can retry, parties to review, attestations that expire within 30 days,
    open invitations, and webhook endpoints that were disabled automatically."""
    return await service.read(context)
