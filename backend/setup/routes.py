"""`/v1/orgs/{orgId}/setup`."""

from uuid import UUID

from fastapi import APIRouter

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.setup import service
from backend.setup.schemas import Setup

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/setup", tags=["Organizations"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ORGS_READ)
async def get_setup(context: Current, orgId: UUID) -> Setup:
    """Return the steps from an empty organization to its first market, and which of them are done."""
    return await service.read(context)
