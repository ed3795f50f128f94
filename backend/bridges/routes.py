"""`/v1/orgs/{orgId}/bridges`, `/v1/orgs/{orgId}/assets/{assetId}/bridge`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.bridges import listing, returns, service
from backend.bridges.schemas import (
    Bridge,
    BridgeAccepted,
    BridgeCreate,
    BridgeList,
    BridgePlan,
    BridgeReturn,
    BridgeReturnAccepted,
    BridgeReturnPlan,
    BridgeStatus,
)
from backend.lists.pages import Page
from backend.requests.responses import accepted, planned

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}", tags=["Bridges"], route_class=GuardedRoute)


@router.get("/bridges")
@requires(Scope.ASSETS_READ)
async def list_bridges(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    assetId: UUID | None = None,
    status: BridgeStatus | None = None,
) -> BridgeList:
    """List bridge transactions, newest first. In this order, `cursor` is the `created_at` of the previous page's last
    item."""
    return await listing.page(context, page, assetId, status)


@router.get("/bridges/{bridgeId}")
@requires(Scope.ASSETS_READ)
async def get_bridge(context: Current, orgId: UUID, bridgeId: UUID) -> Bridge:
    """Get a bridge transaction; for a failed one, the destination is checked again for a late delivery."""
    return await listing.one(context, bridgeId)


@router.post("/bridges/{bridgeId}/return", status_code=status.HTTP_202_ACCEPTED, responses={409: {}})
@requires(Scope.ASSETS_WRITE, fresh=True)
async def return_bridge(
    context: Current, orgId: UUID, bridgeId: UUID, body: BridgeReturn, response: Response, dry_run: DryRun = False
) -> BridgeReturnAccepted | BridgeReturnPlan:
    """Return the supply of a failed bridge: its packet is dropped on the destination, so that it can never be
    delivered, and once that is final its supply is minted back to the sender on the source. This always needs a second
    person and cannot be undone. If the packet is delivered first, nothing is minted."""
    if dry_run:
        return planned(response, await returns.plan(context, bridgeId))
    return accepted(response, orgId, await returns.create(context, bridgeId, body))


@router.post("/assets/{assetId}/bridge", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def bridge_asset(
    context: Current, orgId: UUID, assetId: UUID, body: BridgeCreate, response: Response, dry_run: DryRun = False
) -> BridgeAccepted | BridgePlan:
    """Bridge an asset, its rules and (with an amount) supply of the treasury to another chain. The token is deployed
    there if it is missing. Amounts cross with six decimals."""
    if dry_run:
        return planned(response, await service.plan(context, assetId, body))
    return accepted(response, orgId, await service.create(context, assetId, body))
