"""`/v1/orgs/{orgId}/assets/{assetId}/daily-limits`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.daily_limits import service
from backend.daily_limits.schemas import DailyLimits, DailyLimitsAccepted, DailyLimitsPlan, DailyLimitsUpdate
from backend.lists.pages import SHORT, Page
from backend.requests.responses import accepted, planned

# Declared at import.
router = APIRouter(
    prefix="/orgs/{orgId}/assets/{assetId}/daily-limits", tags=["Daily limits"], route_class=GuardedRoute
)


@router.get("")
@requires(Scope.ASSETS_READ)
async def get_daily_limits(
    context: Current, orgId: UUID, assetId: UUID, page: Annotated[Page, Depends(SHORT.page)]
) -> DailyLimits:
    """Return how much of an asset may be minted, transferred, burned and forcibly transferred in 24 hours without a
    second person, and how much of that is left."""
    found = await service.read(context, assetId)
    return DailyLimits(limits=page.kept(found.limits))


@router.patch("", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_WRITE, fresh=True)
async def update_daily_limits(
    context: Current, orgId: UUID, assetId: UUID, body: DailyLimitsUpdate, response: Response, dry_run: DryRun = False
) -> DailyLimitsAccepted | DailyLimitsPlan:
    """Update the daily limits of an asset (JSON merge patch). A request above the remaining limit waits for a second
    person. Lower and new limits apply immediately; raising or removing one needs a second person."""
    if dry_run:
        return planned(response, await service.plan(context, assetId, body))
    return accepted(response, orgId, await service.update(context, assetId, body))
