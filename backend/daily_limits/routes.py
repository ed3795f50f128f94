"""`/v1/orgs/{orgId}/assets/{assetId}/daily-limits`."""

from uuid import UUID

from fastapi import APIRouter, Response, status

from backend.auth.route import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.daily_limits import service
from backend.daily_limits.schemas import DailyLimits, DailyLimitsAccepted, DailyLimitsPlan, DailyLimitsUpdate

router = APIRouter(
    prefix="/orgs/{orgId}/assets/{assetId}/daily-limits", tags=["Daily limits"], route_class=GuardedRoute
)


@router.get("")
@requires(Scope.ASSETS_READ)
async def get_daily_limits(context: Current, orgId: UUID, assetId: UUID) -> DailyLimits:
    """Return how much of an asset may be minted, transferred, burned and moved by force in 24 hours before a second
    person has to agree, and how much of that is left."""
    return await service.read(context, assetId)


@router.patch("", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_WRITE, fresh=True)
async def update_daily_limits(
    context: Current, orgId: UUID, assetId: UUID, body: DailyLimitsUpdate, response: Response, dry_run: DryRun = False
) -> DailyLimitsAccepted | DailyLimitsPlan:
    """Change the daily limits of an asset (JSON merge patch). A request above what is left of a limit waits for a
    second person. Lower and new limits apply at once; to raise or remove one, a second person has to agree."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await service.plan(context, assetId, body)
    accepted = await service.update(context, assetId, body)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{accepted.request_id}"
    return accepted
