"""Cancel orders."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import gas, records
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.transactions import lost_transactions
from backend.chains import service as chains
from backend.core import locks
from backend.core.changes import publish
from backend.core.errors import Forbidden, NotFound
from backend.core.locks import Purpose
from backend.markets import rules, service
from backend.markets.models import MarketRow, OrderRow
from backend.markets.order_words import words_of
from backend.markets.schemas import OrderAccepted, OrderImpact, OrderPlan, OrderSide
from backend.requests.accept import accept, acceptance_message
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from backend.requests.service import Step
from backend.wallets.models import WalletRow
from backend.wallets.schemas import WalletKind

CANCEL = "order.cancel"


async def _cancellable(context: Context, asset_id: UUID, market_id: UUID, order_id: UUID) -> tuple[MarketRow, OrderRow]:
    """Return the order if it may be cancelled; its maker must be a server wallet of the organization."""
    market = await service.market(context, asset_id, market_id)
    await chains.check_network(context, market.chain_eid)
    async with lost_transactions.considered(context.session, market.chain_eid):
        order: OrderRow | None = await context.session.scalar(
            sa.select(OrderRow).where(col(OrderRow.id) == order_id, col(OrderRow.market_id) == market_id)
        )
        if order is None:
            raise NotFound("This market has no order with this ID.")
        rules.check_cancellable(order.status)
    wallet: WalletRow | None = await context.session.scalar(
        sa.select(WalletRow).where(
            col(WalletRow.address) == order.maker_address,
            col(WalletRow.organization_id) == context.organization_id,
            col(WalletRow.kind) == WalletKind.SERVER,
        )
    )
    if wallet is None:
        raise Forbidden("The order's maker is not a wallet of this organization. Only its maker can cancel it.")
    await records.check_funded(context.session, wallet, market.chain_eid, gas.ORDER)
    return market, order


async def plan(context: Context, asset_id: UUID, market_id: UUID, order_id: UUID) -> OrderPlan:
    """Run every check of a cancellation, and return what it would release."""
    market, order = await _cancellable(context, asset_id, market_id, order_id)
    asset = await records.asset(context.session, context.organization_id, asset_id)
    rest = (order.amount or 0) - (order.filled or 0)
    impact = OrderImpact(
        order_id=order_id,
        market_id=market_id,
        side=order.side,
        price=str(order.price or 0),
        wallet_address=order.maker_address,
        amount=str(rest if order.side is OrderSide.SELL else rest * (order.price or 0) // 10**asset.decimals),
        currency=str(market.quote_symbol) if order.side is OrderSide.BUY else asset.symbol,
    )
    return OrderPlan(steps=["Cancel the rest of the order"], impact=impact)


async def cancel(context: Context, asset_id: UUID, market_id: UUID, order_id: UUID) -> OrderAccepted:
    """Cancel an order; a repeated call returns the earlier cancellation."""
    await service.market(context, asset_id, market_id)
    earlier = await _earlier(context, order_id)
    if earlier is not None:
        return _cancelling(market_id, order_id, earlier)
    market, order = await _cancellable(context, asset_id, market_id, order_id)
    asset = await records.asset(context.session, context.organization_id, asset_id)
    earlier = await _earlier(context, order_id)  # again and locked, because the chain was queried
    if earlier is not None:
        return _cancelling(market_id, order_id, earlier)
    request = await accept(
        context,
        CANCEL,
        f"Cancel the order to {order.side} {await words_of(context, market, asset, order)}",
        subject=("order", order_id),
        scope=Scope.TRANSFERS_WRITE,
        order=market_id,
        arguments={"asset_id": str(asset_id), "market_id": str(market_id)},
        steps=[Step("order_cancelled", "Cancel the order", market.chain_eid)],
    )
    asked = {"request_id": str(request.id)}
    await publish(context.session, context.organization_id, "order.cancelling", ("order", order_id), None, asked)
    return _cancelling(market_id, order_id, request)


async def _earlier(context: Context, order_id: UUID) -> RequestRow | None:
    """Return the request that cancels or has cancelled the order. Concurrent requests wait until the transaction
    ends."""
    await locks.wait(context.session, Purpose.ORDER_CANCELLATION, order_id)
    found: RequestRow | None = await context.session.scalar(
        sa.select(RequestRow).where(
            col(RequestRow.organization_id) == context.organization_id,
            col(RequestRow.subject_id) == order_id,
            col(RequestRow.kind) == CANCEL,
            col(RequestRow.status).not_in([RequestStatus.FAILED, RequestStatus.DENIED]),
        )
    )
    return found


def _cancelling(market_id: UUID, order_id: UUID, request: RequestRow) -> OrderAccepted:
    return OrderAccepted(
        orderId=order_id,
        marketId=market_id,
        status=request.status,
        request_id=str(request.id),
        message=acceptance_message(request, "The order is being cancelled."),
    )
