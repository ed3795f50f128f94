"""`/v1/orgs/{orgId}/assets/{assetId}/activity`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends

from backend.activity import listing
from backend.activity.schemas import ActivityKind, ActivityList
from backend.assets import records
from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.lists.pages import Page

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/assets/{assetId}/activity", tags=["Assets"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ASSETS_READ)
async def list_asset_activity(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    kind: ActivityKind | None = None,
) -> ActivityList:
    """List what happened to an asset, newest first: operations, transfers, orders, trades, rule changes, freezes and
    pauses, markets, bridges, distributions with their funding and claims, mints and burns, also those that were not
    requested here. Transfers need the scope `transfers:read` too."""
    asset = await records.asset(context.session, orgId, assetId)
    return await listing.page(context, page, asset, kind)
