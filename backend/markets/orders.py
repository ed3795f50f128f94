"""List, place and cancel orders. The indexer writes their rows; the workflow sends what is requested here."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import gas, records, transfer_check
from backend.assets.models import AssetRow
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.bindings import market as contract
from backend.chain.bindings import quote_token, token
from backend.chain.devnet import clock
from backend.chain.models import finality_of
from backend.chain.transactions import lost_transactions
from backend.chains import new_activity
from backend.chains import service as chains
from backend.compliance.refusal import Refused
from backend.compliance.resolutions import resolved
from backend.compliance.rules import evaluate_order, failures
from backend.compliance.schemas import RuleVerdict, TransferVerdict
from backend.core import db, locks
from backend.core.changes import publish
from backend.core.errors import Conflict, Forbidden, NotFound
from backend.core.locks import Purpose
from backend.core.pagination import where_given
from backend.core.units import grouped
from backend.lists.pages import Listing, Page
from backend.markets import rules, service
from backend.markets.models import MarketRow, OrderRow
from backend.markets.schemas import (
    Order,
    OrderAccepted,
    OrderCheck,
    OrderCreate,
    OrderImpact,
    OrderList,
    OrderPlan,
    OrderSide,
    OrderStatus,
)
from backend.markets.terms import market_rules
from backend.parties.models import PartyRow
from backend.requests.accept import accept, acceptance_message
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from backend.requests.service import Step
from backend.wallets.models import WalletRow
from backend.wallets.schemas import WalletKind

ORDERS = sa.inspect(OrderRow).local_table
LIST = Listing.of(
    ORDERS.c,
    "created_at",
    "updated_at",
    names=(col(PartyRow.name), col(WalletRow.label)),
    codes=(ORDERS.c.tx_hash, ORDERS.c.maker_address),
)
CANCEL = "order.cancel"


@dataclass(frozen=True)
class Trader:
    """A server wallet of the organization in one of its markets."""

    market: MarketRow
    asset: AssetRow
    wallet: WalletRow


async def page(
    context: Context, market_id: UUID, page: Page, status: OrderStatus | None, side: OrderSide | None
) -> OrderList:
    """Return a page of a market's orders, newest first, with the makers' names if the organization knows them."""
    name = sa.func.coalesce(col(PartyRow.name), col(WalletRow.label)).label("maker_name")
    ours = ORDERS.c.organization_id
    chain_eid = sa.select(col(MarketRow.chain_eid)).where(col(MarketRow.id) == market_id).scalar_subquery()
    query = (
        sa.select(ORDERS, name, finality_of(chain_eid, ORDERS.c.tx_hash))
        .outerjoin(
            PartyRow,
            sa.and_(col(PartyRow.organization_id) == ours, col(PartyRow.wallet_address) == ORDERS.c.maker_address),
        )
        .outerjoin(
            WalletRow, sa.and_(col(WalletRow.organization_id) == ours, col(WalletRow.address) == ORDERS.c.maker_address)
        )
        .where(ORDERS.c.market_id == market_id, ours == context.organization_id)
    )
    query = where_given(query, (ORDERS.c.status, status), (ORDERS.c.side, side))
    shown, paging = await page.read(context.session, query)
    return OrderList(orders=[_order(r) for r in shown], **paging)


def _order(row: Any) -> Order:
    amounts = {name: str(getattr(row, name)) for name in ("price", "amount", "filled")}
    return Order(**{**row._mapping, **amounts})


async def _placeable(context: Context, asset_id: UUID, market_id: UUID, body: OrderCreate) -> Trader:
    """Return the trader of a new order, after every check."""
    trader = await _trader(context, asset_id, market_id, body.wallet_id)
    await new_activity.check(context, trader.market.chain_eid)
    rules.check_open(trader.market.status)
    rules.check_worth(int(body.price), int(body.amount), trader.asset.decimals)
    async with lost_transactions.considered(context.session, trader.market.chain_eid):
        await _check_rules(context, trader, body)
        await _check_settles(context, trader.market)
        await _check_means(context, trader, body)
    return trader


async def placing_plan(context: Context, asset_id: UUID, market_id: UUID, body: OrderCreate) -> OrderPlan:
    """Run every check of an order, and return what it would commit."""
    trader = await _placeable(context, asset_id, market_id, body)
    market = trader.market
    impact = OrderImpact(
        side=body.side,
        wallet_address=trader.wallet.address,
        amount=str(_needed(trader, body)),
        currency=str(market.quote_symbol) if body.side is OrderSide.BUY else trader.asset.symbol,
    )
    return OrderPlan(steps=["Approve the allowance for the market", "Place the order"], impact=impact)


async def place(context: Context, asset_id: UUID, market_id: UUID, body: OrderCreate) -> OrderAccepted:
    """Create an order's request, after checking every rule of market and token."""
    trader = await _placeable(context, asset_id, market_id, body)
    request = await accept(
        context,
        "order.place",
        f"{body.side.title()} {grouped(body.amount, trader.asset.decimals)} {trader.asset.symbol}",
        subject=("market", market_id),
        scope=Scope.TRANSFERS_WRITE,
        order=market_id,
        steps=[
            Step("order_approved", "Allowance approved for the market", trader.market.chain_eid),
            Step("order_placed", "Order placed", trader.market.chain_eid),
        ],
        arguments={
            "side": body.side,
            "price": body.price,
            "amount": body.amount,
            "wallet": trader.wallet.address,
        },
    )
    asked = body.model_dump(mode="json") | {"maker_address": trader.wallet.address, "request_id": str(request.id)}
    await publish(context.session, context.organization_id, "order.requested", ("market", market_id), None, asked)
    return OrderAccepted(
        orderId=None,
        marketId=market_id,
        status=request.status,
        request_id=str(request.id),
        message=acceptance_message(request, "The order is being placed."),
    )


async def _trader(context: Context, asset_id: UUID, market_id: UUID, wallet_id: UUID) -> Trader:
    market = await service.market(context, asset_id, market_id)
    asset = await records.asset(context.session, context.organization_id, asset_id)
    wallet: WalletRow | None = await context.session.scalar(
        sa.select(WalletRow).where(
            col(WalletRow.id) == wallet_id, col(WalletRow.organization_id) == context.organization_id
        )
    )
    if wallet is None:
        raise NotFound("There is no wallet with this ID in this organization.")
    if wallet.kind is not WalletKind.SERVER:
        raise Conflict("Orders are signed by server wallets. Signum does not hold this wallet's key.")
    return Trader(market, asset, wallet)


async def check(context: Context, asset_id: UUID, market_id: UUID, body: OrderCheck) -> TransferVerdict:
    """Return every rule's verdict on a hypothetical order, and whether the market's contract agrees."""
    market = await service.market(context, asset_id, market_id)
    if market.market_address is None:
        raise Conflict(f"The market is {market.status}. Orders can be checked after it is deployed.")
    verdicts = await _verdicts(context, market, body.address, body.side, int(body.amount))
    async with db.paused(context.session):
        codes = await contract.check_order(
            market.chain_eid, market.market_address, body.address, body.side, int(body.amount)
        )
    failed = failures(verdicts)
    return TransferVerdict(
        allowed=not failed,
        chain_agrees=[v.code for v in failed] == codes,
        rules=resolved(verdicts, context.organization_id, asset_id),
    )


async def _check_rules(context: Context, trader: Trader, body: OrderCreate) -> None:
    verdicts = await _verdicts(context, trader.market, trader.wallet.address, body.side, int(body.amount))
    refused = failures(verdicts)
    if refused:
        raise Refused(resolved(refused, context.organization_id, trader.asset.id))


async def _verdicts(
    context: Context, market: MarketRow, address: str, side: OrderSide, amount: int
) -> list[RuleVerdict]:
    assert market.market_address is not None
    place = await transfer_check.place_of(context, market.asset_id, market.chain_eid)
    async with db.paused(context.session):
        account, state, on_token, info = await _facts(place, market.market_address, address)
    now, is_buy = clock.moment(), side is OrderSide.BUY
    return evaluate_order(on_token, market_rules(market), account, is_buy, amount, now, state, info.halted)


async def _facts(place: Place, market_address: str, address: str) -> tuple[Any, Any, Any, Any]:
    on_token = await token.rules(place.eid, place.token)
    account = await transfer_check.account(place, on_token, address)
    state = await transfer_check.token_state(place)
    return account, state, on_token, await contract.info(place.eid, market_address)


async def _check_settles(context: Context, market: MarketRow) -> None:
    """Raise 409 if the token's owner has removed the venue: an order there could never settle."""
    async with db.paused(context.session):
        settles = await token.is_venue(market.chain_eid, str(market.rwa_token_address), str(market.market_address))
    if not settles:
        raise Conflict("The token no longer lets this market settle, so it takes no orders.")


async def _check_means(context: Context, trader: Trader, body: OrderCreate) -> None:
    """Raise 409 if the wallet lacks the quote currency for a buy order, or cannot pay for gas."""
    market = trader.market
    await records.check_funded(context.session, trader.wallet, market.chain_eid, gas.ORDER)
    if body.side is OrderSide.SELL:
        return
    assert market.quote_token_address is not None
    needed = _needed(trader, body)
    async with db.paused(context.session):
        held = await quote_token.balance_of(market.chain_eid, market.quote_token_address, trader.wallet.address)
    if held < needed:
        raise Conflict(
            f'The wallet "{trader.wallet.label}" ({trader.wallet.address}) holds {held} base units of '
            f"{market.quote_symbol}; the order needs {needed}, fees included."
        )


def _needed(trader: Trader, body: OrderCreate) -> int:
    """Return the most that an order can use of its currency."""
    fee = max(trader.market.taker_fee_bps, trader.market.maker_fee_bps)
    return rules.budget(body.side, int(body.price), int(body.amount), trader.asset.decimals, fee)


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


async def cancelling_plan(context: Context, asset_id: UUID, market_id: UUID, order_id: UUID) -> OrderPlan:
    """Run every check of a cancellation, and return what it would release."""
    market, order = await _cancellable(context, asset_id, market_id, order_id)
    asset = await records.asset(context.session, context.organization_id, asset_id)
    rest = (order.amount or 0) - (order.filled or 0)
    impact = OrderImpact(
        order_id=order_id,
        side=order.side,
        wallet_address=order.maker_address,
        amount=str(rest if order.side is OrderSide.SELL else rest * (order.price or 0) // 10**asset.decimals),
        currency=str(market.quote_symbol) if order.side is OrderSide.BUY else asset.symbol,
    )
    return OrderPlan(steps=["Cancel the rest of the order"], impact=impact)


async def cancel(context: Context, asset_id: UUID, market_id: UUID, order_id: UUID) -> OrderAccepted:
    """Cancel an order; a repeated call returns the earlier cancellation."""
    await service.market(context, asset_id, market_id)
    earlier = await _earlier_cancellation(context, market_id, order_id)
    if earlier is not None:
        return _cancelling(market_id, order_id, earlier)
    market, order = await _cancellable(context, asset_id, market_id, order_id)
    earlier = await _earlier_cancellation(
        context, market_id, order_id
    )  # again and locked, because the chain was queried
    if earlier is not None:
        return _cancelling(market_id, order_id, earlier)
    request = await accept(
        context,
        CANCEL,
        f"Cancel order {order.chain_order_id}",
        subject=("market", market_id),
        scope=Scope.TRANSFERS_WRITE,
        order=market_id,
        arguments={"order_id": str(order_id)},
        steps=[Step("order_cancelled", "Order cancelled", market.chain_eid)],
    )
    asked = {"request_id": str(request.id)}
    await publish(context.session, context.organization_id, "order.cancelling", ("order", order_id), None, asked)
    return _cancelling(market_id, order_id, request)


async def _earlier_cancellation(context: Context, market_id: UUID, order_id: UUID) -> RequestRow | None:
    """Return the request that cancels or has cancelled the order. Concurrent requests wait until the transaction
    ends."""
    await locks.wait(context.session, Purpose.ORDER_CANCELLATION, order_id)
    found: RequestRow | None = await context.session.scalar(
        sa.select(RequestRow).where(
            col(RequestRow.organization_id) == context.organization_id,
            col(RequestRow.subject_id) == market_id,
            # In the wording of its index, so that the planner recognizes it.
            sa.text("kind = 'order.cancel' and arguments ->> 'order_id' = :order_id").bindparams(
                order_id=str(order_id)
            ),
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
