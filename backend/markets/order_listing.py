"""Lists of orders and trades."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.chain.models import finality_of
from backend.core.errors import NotFound
from backend.core.pagination import where_given
from backend.lists.pages import Listing, Page
from backend.markets import rules
from backend.markets.models import MarketRow, OrderRow, TradeRow
from backend.markets.schemas import Order, OrderList, OrderSide, OrderStatus, Trade, TradeList
from backend.parties.models import PartyRow
from backend.requests.waiting import awaits_approval
from backend.wallets.models import WalletRow

ORDERS = sa.inspect(OrderRow).local_table
TRADES = sa.inspect(TradeRow).local_table
_MAKERS, _TAKERS = ORDERS.alias("makers"), ORDERS.alias("takers")
_BLOCKED = sa.and_(ORDERS.c.blocked_reason.is_not(None), ORDERS.c.status.in_((OrderStatus.OPEN, OrderStatus.PARTIAL)))
LIST = Listing.of(
    ORDERS.c,
    "created_at",
    "updated_at",
    names=(col(PartyRow.name), col(WalletRow.label)),
    codes=(ORDERS.c.tx_hash, ORDERS.c.maker_address),
)


def _party(orders: Any) -> Any:
    """Return the name of an order's maker, if the organization knows it."""
    named = sa.select(col(PartyRow.name)).where(
        col(PartyRow.organization_id) == TRADES.c.organization_id,
        col(PartyRow.wallet_address) == orders.c.maker_address,
    )
    return named.limit(1).correlate(TRADES, orders).scalar_subquery()


TRADE_LIST = Listing(
    {"executed_at": TRADES.c.block_number},
    tie=TRADES.c.log_index,
    created=TRADES.c.created_at,
    names=(_party(_MAKERS), _party(_TAKERS)),
    codes=(TRADES.c.id, TRADES.c.tx_hash, _MAKERS.c.maker_address, _TAKERS.c.maker_address),
)
"""Trades in the chain's order."""


async def page(
    context: Context,
    market_id: UUID,
    page: Page,
    status: OrderStatus | None,
    side: OrderSide | None,
    blocked: bool | None,
) -> OrderList:
    """Return a page of a market's orders, newest first, with the makers' names if the organization knows them."""
    query = where_given(_query(context, market_id), (ORDERS.c.status, status), (ORDERS.c.side, side))
    if blocked is not None:
        query = query.where(_BLOCKED if blocked else sa.not_(_BLOCKED))
    shown, paging = await page.read(context.session, query)
    return OrderList(orders=[_order(r) for r in shown], **paging)


async def one(context: Context, market_id: UUID, order_id: UUID) -> Order:
    """Return an order; 404 if the market does not have it."""
    row = (await context.session.execute(_query(context, market_id).where(ORDERS.c.id == order_id))).one_or_none()
    if row is None:
        raise NotFound("This market has no order with this ID.")
    return _order(row)


def _query(context: Context, market_id: UUID) -> sa.Select[Any]:
    name = sa.func.coalesce(col(PartyRow.name), col(WalletRow.label)).label("maker_name")
    ours = ORDERS.c.organization_id
    chain_eid = sa.select(col(MarketRow.chain_eid)).where(col(MarketRow.id) == market_id).scalar_subquery()
    return (
        sa.select(
            ORDERS,
            name,
            finality_of(chain_eid, ORDERS.c.tx_hash),
            col(MarketRow.asset_id),
            awaits_approval(ORDERS),
        )
        .join(MarketRow, col(MarketRow.id) == ORDERS.c.market_id)
        .outerjoin(
            PartyRow,
            sa.and_(col(PartyRow.organization_id) == ours, col(PartyRow.wallet_address) == ORDERS.c.maker_address),
        )
        .outerjoin(
            WalletRow, sa.and_(col(WalletRow.organization_id) == ours, col(WalletRow.address) == ORDERS.c.maker_address)
        )
        .where(ORDERS.c.market_id == market_id, ours == context.organization_id)
    )


def _order(row: Any) -> Order:
    amounts = {name: str(getattr(row, name)) for name in ("price", "amount", "filled")}
    reason = row.blocked_reason if row.status in (OrderStatus.OPEN, OrderStatus.PARTIAL) else None
    return Order(**{**row._mapping, **amounts, "blocked_reason": reason})


async def trades(context: Context, market_id: UUID, page: Page, order_id: UUID | None) -> TradeList:
    """Return a page of a market's trades, newest on the chain first, of one order or all."""
    query = _trades(context, market_id)
    if order_id is not None:
        query = query.where(sa.or_(_MAKERS.c.id == order_id, _TAKERS.c.id == order_id))
    shown, paging = await page.read(context.session, query)
    names = await _names(context, {address for row in shown for address in (row.maker_address, row.taker_address)})
    return TradeList(trades=[_trade(row, names) for row in shown], **paging)


def _trades(context: Context, market_id: UUID) -> sa.Select[Any]:
    def has(orders: Any, number: Any) -> Any:
        return sa.and_(orders.c.market_id == TRADES.c.market_id, orders.c.chain_order_id == number)

    return (
        sa.select(
            TRADES,
            col(MarketRow.asset_id),
            col(MarketRow.chain_eid),
            col(AssetRow.decimals),
            _MAKERS.c.id.label("maker_order_id"),
            _MAKERS.c.maker_address,
            _TAKERS.c.id.label("taker_order_id"),
            _TAKERS.c.maker_address.label("taker_address"),
            _TAKERS.c.side.label("taker_side"),
            finality_of(col(MarketRow.chain_eid), TRADES.c.tx_hash),
        )
        .join(MarketRow, col(MarketRow.id) == TRADES.c.market_id)
        .join(AssetRow, col(AssetRow.id) == col(MarketRow.asset_id))
        .outerjoin(_MAKERS, has(_MAKERS, TRADES.c.maker_chain_id))
        .outerjoin(_TAKERS, has(_TAKERS, TRADES.c.taker_chain_id))
        .where(TRADES.c.market_id == market_id, TRADES.c.organization_id == context.organization_id)
    )


async def _names(context: Context, addresses: Iterable[str | None]) -> dict[str | None, str]:
    """Return the names of parties, or labels of wallets, by address, as far as the organization knows them."""
    known: dict[str | None, str] = {}
    of = {address for address in addresses if address is not None}
    for address, name, owner in (
        (col(WalletRow.address), col(WalletRow.label), col(WalletRow.organization_id)),
        (col(PartyRow.wallet_address), col(PartyRow.name), col(PartyRow.organization_id)),
    ):
        ours = sa.select(address, name).where(owner == context.organization_id, address.in_(of))
        known |= {at: label for at, label in await context.session.execute(ours) if label is not None}
    return known


def _trade(row: Any, names: dict[str | None, str]) -> Trade:
    is_buy = row.taker_side is OrderSide.BUY
    buyer, seller = (row.taker_address, row.maker_address) if is_buy else (row.maker_address, row.taker_address)
    if row.taker_side is None:
        buyer = seller = None
    amounts = {name: str(getattr(row, name)) for name in ("price", "amount", "taker_fee", "maker_fee")}
    derived = {
        "value": str(rules.cost(row.price, row.amount, row.decimals, is_taker_buying=is_buy)),
        "buyer_address": buyer,
        "buyer_name": names.get(buyer),
        "seller_address": seller,
        "seller_name": names.get(seller),
        "executed_at": row.created_at,
    }
    return Trade(**{**row._mapping, **amounts, **derived})
