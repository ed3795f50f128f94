"""`/v1/orgs/{orgId}/assets/{assetId}/markets`, their orders, and `/v1/orgs/{orgId}/markets`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.assets import records
from backend.auth.route import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.compliance.schemas import TransferVerdict
from backend.keyset import Page
from backend.markets import listing, orders, planning, service
from backend.markets.schemas import (
    Market,
    MarketAccepted,
    MarketCreate,
    MarketList,
    MarketPlan,
    MarketStatus,
    OrderAccepted,
    OrderCheck,
    OrderCreate,
    OrderList,
    OrderPlan,
    OrderSide,
    OrderStatus,
)

router = APIRouter(prefix="/orgs/{orgId}", tags=["Markets"], route_class=GuardedRoute)
ASSET = "/assets/{assetId}/markets"
ORDERS = ASSET + "/{marketId}/orders"


@router.get("/markets")
@requires(Scope.ASSETS_READ)
async def list_organization_markets(
    context: Current, orgId: UUID, page: Annotated[Page, Depends()], status: MarketStatus | None = None
) -> MarketList:
    """Markets of all assets of the organization, newest first."""
    return await listing.page(context, page, None, status)


@router.get(ASSET)
@requires(Scope.ASSETS_READ)
async def list_markets(
    context: Current, orgId: UUID, assetId: UUID, page: Annotated[Page, Depends()], status: MarketStatus | None = None
) -> MarketList:
    """Markets of an asset, newest first."""
    await records.asset(context.session, orgId, assetId)
    return await listing.page(context, page, assetId, status)


@router.post(ASSET, status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def deploy_market(
    context: Current, orgId: UUID, assetId: UUID, body: MarketCreate, response: Response, dry_run: DryRun = False
) -> MarketAccepted | MarketPlan:
    """Deploy a compliance-gated market on a chain. Where the asset is not there yet it is bridged first; the market
    follows by itself. Rules that are left out come from the asset; they hold beside the token's own. The organization's
    wallet collects the fees, less the protocol's share. Poll the market or the request for progress."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await planning.plan(context, assetId, body)
    accepted = await service.create(context, assetId, body)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{accepted.request_id}"
    return accepted


@router.get(ASSET + "/{marketId}")
@requires(Scope.ASSETS_READ)
async def get_market(context: Current, orgId: UUID, assetId: UUID, marketId: UUID) -> Market:
    """One market; whether it is halted is asked of the chain."""
    return await listing.one(context, assetId, marketId)


@router.post(ASSET + "/{marketId}/order-check", responses={409: {}})
@requires(Scope.ASSETS_READ)
async def check_order(
    context: Current, orgId: UUID, assetId: UUID, marketId: UUID, body: OrderCheck
) -> TransferVerdict:
    """Whether an order by an address could be placed: every rule of market and token that is looked at, its reason and
    what would put it right; `chain_agrees` says whether the market's own `checkOrder` comes to the same. 409 where the
    market does not trade yet."""
    return await orders.check(context, assetId, marketId, body)


@router.get(ORDERS)
@requires(Scope.ASSETS_READ)
async def list_orders(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    marketId: UUID,
    page: Annotated[Page, Depends()],
    status: OrderStatus | None = None,
    side: OrderSide | None = None,
) -> OrderList:
    """Orders of a market, newest first, as the chain's events tell them."""
    await service.market(context, assetId, marketId)
    return await orders.page(context, marketId, page, status, side)


@router.post(ORDERS, status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.TRANSFERS_WRITE)
async def place_order(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    marketId: UUID,
    body: OrderCreate,
    response: Response,
    dry_run: DryRun = False,
) -> OrderAccepted | OrderPlan:
    """Place a limit order by a server wallet. Every rule of token and market is checked before anything is sent; orders
    that match are traded with at once, and the rest stays in the book."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await orders.placing_plan(context, assetId, marketId, body)
    accepted = await orders.place(context, assetId, marketId, body)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{accepted.request_id}"
    return accepted


@router.delete(ORDERS + "/{orderId}", status_code=status.HTTP_202_ACCEPTED, responses={409: {}})
@requires(Scope.TRANSFERS_WRITE)
async def cancel_order(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    marketId: UUID,
    orderId: UUID,
    response: Response,
    dry_run: DryRun = False,
) -> OrderAccepted | OrderPlan:
    """Cancel what is left of an order of one of the organization's server wallets."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await orders.cancelling_plan(context, assetId, marketId, orderId)
    accepted = await orders.cancel(context, assetId, marketId, orderId)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{accepted.request_id}"
    return accepted
