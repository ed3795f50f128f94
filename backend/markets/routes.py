"""`/v1/orgs/{orgId}/assets/{assetId}/markets`, their orders and trades, and `/v1/orgs/{orgId}/markets`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status

from backend.assets import records
from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.compliance.schemas import TransferVerdict
from backend.lists.days import Day
from backend.lists.pages import Page
from backend.markets import cancellations, daily_prices, listing, order_listing, orders, plan, service
from backend.markets.schemas import (
    DailyPrices,
    Market,
    MarketAccepted,
    MarketCreate,
    MarketList,
    MarketPlan,
    MarketStatus,
    Order,
    OrderAccepted,
    OrderCheck,
    OrderCreate,
    OrderList,
    OrderPlan,
    OrderSide,
    OrderStatus,
    TradeList,
)
from backend.requests.responses import accepted, planned

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}", tags=["Markets"], route_class=GuardedRoute)
ASSET = "/assets/{assetId}/markets"
ORDERS = ASSET + "/{marketId}/orders"
ORDER = ORDERS + "/{orderId}"
TRADES = ASSET + "/{marketId}/trades"
DAILY_PRICES = ASSET + "/{marketId}/daily-prices"


@router.get("/markets")
@requires(Scope.ASSETS_READ)
async def list_organization_markets(
    context: Current, orgId: UUID, page: Annotated[Page, Depends(listing.LIST.page)], status: MarketStatus | None = None
) -> MarketList:
    """List markets of all assets of the organization, newest first."""
    return await listing.page(context, page, None, status)


@router.get(ASSET)
@requires(Scope.ASSETS_READ)
async def list_markets(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    status: MarketStatus | None = None,
) -> MarketList:
    """List markets of an asset, newest first."""
    await records.asset(context.session, orgId, assetId)
    return await listing.page(context, page, assetId, status)


@router.post(ASSET, status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def deploy_market(
    context: Current, orgId: UUID, assetId: UUID, body: MarketCreate, response: Response, dry_run: DryRun = False
) -> MarketAccepted | MarketPlan:
    """Deploy a compliance-gated market on a chain. If the asset has no token there, it is bridged first, and the market
    follows automatically. Omitted rules come from the asset; they apply in addition to the token's own. The
    organization's wallet collects the fees, less the protocol's share. Poll the market or the request for progress."""
    if dry_run:
        return planned(response, await plan.plan(context, assetId, body))
    return accepted(response, orgId, await service.create(context, assetId, body))


@router.get(ASSET + "/{marketId}")
@requires(Scope.ASSETS_READ)
async def get_market(context: Current, orgId: UUID, assetId: UUID, marketId: UUID) -> Market:
    """Get a market; the chain is queried for whether it is halted."""
    return await listing.one(context, assetId, marketId)


@router.post(ASSET + "/{marketId}/order-check", responses={409: {}})
@requires(Scope.ASSETS_READ)
async def check_order(
    context: Current, orgId: UUID, assetId: UUID, marketId: UUID, body: OrderCheck
) -> TransferVerdict:
    """Check whether an address could place an order: every evaluated rule of market and token, its reason and its
    resolution; `chain_agrees` says whether the market's own `checkOrder` returns the same. 409 if the market is not
    deployed yet."""
    return await orders.check(context, assetId, marketId, body)


@router.get(ORDERS)
@requires(Scope.ASSETS_READ)
async def list_orders(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    marketId: UUID,
    page: Annotated[Page, Depends(order_listing.LIST.page)],
    status: OrderStatus | None = None,
    side: OrderSide | None = None,
    blocked: Annotated[
        bool | None, Query(description="Only open orders that cannot be filled because of their makers, or all others.")
    ] = None,
) -> OrderList:
    """List orders of a market, newest first: those that were accepted here, also while they are pending, and those that
    were placed on the chain by others."""
    await service.market(context, assetId, marketId)
    return await order_listing.page(context, marketId, page, status, side, blocked)


@router.post(ORDERS, status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.TRANSFERS_WRITE, fresh=True)
async def place_order(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    marketId: UUID,
    body: OrderCreate,
    response: Response,
    dry_run: DryRun = False,
) -> OrderAccepted | OrderPlan:
    """Place a limit order from a server wallet. Every rule of token and market is checked before anything is sent;
    matching orders are filled immediately, and the rest stays in the order book. The order has its ID from now on:
    `orderId`, the request's subject; it is pending until it is on the chain."""
    if dry_run:
        return planned(response, await orders.placing_plan(context, assetId, marketId, body))
    return accepted(response, orgId, await orders.place(context, assetId, marketId, body))


@router.get(ORDER)
@requires(Scope.ASSETS_READ)
async def get_order(context: Current, orgId: UUID, assetId: UUID, marketId: UUID, orderId: UUID) -> Order:
    """Get an order, also while it is pending."""
    await service.market(context, assetId, marketId)
    return await order_listing.one(context, marketId, orderId)


@router.delete(ORDER, status_code=status.HTTP_202_ACCEPTED, responses={409: {}})
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
    """Cancel the rest of an order of one of the organization's server wallets. 409 while the order is pending."""
    if dry_run:
        return planned(response, await cancellations.plan(context, assetId, marketId, orderId))
    return accepted(response, orgId, await cancellations.cancel(context, assetId, marketId, orderId))


@router.get(TRADES)
@requires(Scope.ASSETS_READ)
async def list_trades(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    marketId: UUID,
    page: Annotated[Page, Depends(order_listing.TRADE_LIST.page)],
    orderId: Annotated[UUID | None, Query(description="Only trades of this order, as maker or taker.")] = None,
) -> TradeList:
    """List trades of a market from chain events, newest first."""
    await service.market(context, assetId, marketId)
    return await order_listing.trades(context, marketId, page, orderId)


@router.get(DAILY_PRICES)
@requires(Scope.ASSETS_READ)
async def get_daily_prices(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    marketId: UUID,
    since: Annotated[Day | None, Query(description="The first day. Default: 365 days before the last.")] = None,
    until: Annotated[Day | None, Query(description="The last day. Default: today on the chains.")] = None,
) -> DailyPrices:
    """Get prices and volume of a market by day, from chain events: 366 days at most. Days without trades are
    omitted."""
    await service.market(context, assetId, marketId)
    return await daily_prices.between(context, marketId, since, until)
