"""`/v1/orgs/{orgId}/insight`."""

from uuid import UUID

from fastapi import APIRouter

from backend.auth.guard import Current, GuardedRoute, from_replica, requires
from backend.auth.scopes import Scope
from backend.insight import service
from backend.insight.schemas import Insight

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/insight", tags=["Organizations"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ORGS_READ)
@from_replica
async def get_insight(context: Current, orgId: UUID) -> Insight:
    """Return issued value, holders, trades, transfers and attestations, each now, 30 days ago and for the last 52
    weeks; what happened to assets, what ends within 90 days, and the state of the enabled chains."""
    return await service.read(context)
