"""`/v1/orgs/{orgId}/assets/{assetId}/prices`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from backend.auth.guard import Current, GuardedRoute, from_replica, requires
from backend.auth.scopes import Scope
from backend.insight import prices
from backend.insight.schemas import AssetPrices, PriceStep
from backend.lists.days import Day

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/assets/{assetId}/prices", tags=["Assets"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ASSETS_READ)
@from_replica
async def get_asset_prices(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    since: Annotated[
        Day | None, Query(description="First UTC day. Default: a year ago; by month, the first trade.")
    ] = None,
    until: Annotated[Day | None, Query(description="Last UTC day. Default: today.")] = None,
    step: PriceStep = PriceStep.DAY,
) -> AssetPrices:
    """Return prices and volume of an asset across its markets, by day or by month of block time: the last price, the
    one of 30 days ago, and at most 366 periods with trades, oldest first."""
    return await prices.read(context, assetId, since, until, step)
