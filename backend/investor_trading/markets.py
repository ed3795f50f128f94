"""The markets of an organization for its investors: prices and depth, without the makers of orders."""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.chain.bindings import quote_token, token
from backend.controls.rules import is_whole
from backend.core import db
from backend.core.errors import NotFound, SignumError
from backend.investor_trading.schemas import (
    InvestorBook,
    InvestorLevel,
    InvestorMarket,
    InvestorMarketList,
    InvestorWallet,
)
from backend.investors import profile
from backend.limits import rate_limits
from backend.markets.rules import Resting
from backend.markets.schemas import OrderSide

LEVELS = 10
PATIENCE = 3.0
"""Seconds that a chain has to return what wallets hold."""
_MARKETS = sa.text("""
  select m.id, m.asset_id, a.name, a.symbol, a.decimals, m.quote_symbol, m.quote_decimals, m.chain_eid,
    coalesce(c.display_name, m.chain_eid::text) as chain_name, m.status, m.halt_reason, m.taker_fee_bps,
    m.maker_fee_bps, m.last_price, m.last_trade_at, m.rwa_token_address, m.quote_token_address
  from markets m join assets a on a.id = m.asset_id left join chains c on c.xchain_eid = m.chain_eid
  where m.organization_id = :org and m.status in ('active', 'halted') and a.status <> 'archived'
    and (cast(:market as uuid) is null or m.id = :market)
  order by lower(a.symbol), m.created_at, m.id limit 100
""")
_BEST = sa.text("""
  select m.id, b.side, min(case when b.side = 'sell' then b.price end) as ask,
    max(case when b.side = 'buy' then b.price end) as bid
  from unnest(cast(:markets as uuid[])) m (id), lateral signum_investor_book(m.id) b group by m.id, b.side
""")
_BOOK = sa.text("select * from signum_investor_book(:market)")


async def page(context: Context) -> InvestorMarketList:
    """Return the markets, with their best prices."""
    rows = await _rows(context, None)
    best = await context.session.execute(_BEST, {"markets": [row.id for row in rows]})
    prices = {(row.id, row.side): row.ask if row.side == OrderSide.SELL else row.bid for row in best}
    return InvestorMarketList(
        markets=[_shown(row, prices.get((row.id, "buy")), prices.get((row.id, "sell"))) for row in rows]
    )


async def book(context: Context, market_id: UUID) -> InvestorBook:
    """Return a market with its order book; 404 if the organization has no such market in operation."""
    await rate_limits.hit(rate_limits.INVESTOR_READS, "investor_reads", str(context.user_id))
    rows = await _rows(context, market_id)
    if not rows:
        raise NotFound("There is no market with this ID in this organization.")
    orders = await resting(context, market_id)
    bids, asks = (_levels(order for order in orders if order.side is side) for side in (OrderSide.BUY, OrderSide.SELL))
    market = _shown(rows[0], bids[0].price if bids else None, asks[0].price if asks else None)
    linked, kept = await profile.linked(context), await profile.kept(context)
    wallets = await _wallets(context, rows[0], [*linked, *kept])
    return InvestorBook(
        market=market,
        bids=bids[:LEVELS],
        asks=asks[:LEVELS],
        wallets=wallets[: len(linked)],
        kept=wallets[len(linked) :],
    )


async def _wallets(context: Context, market: Any, own: list[str]) -> list[InvestorWallet]:
    """Return wallets with what they hold; without amounts if the chain does not answer in time."""
    async with db.paused(context.session):
        try:
            async with asyncio.timeout(PATIENCE):
                return await _held(market, own)
        except (SignumError, TimeoutError):
            unknown = {"tokens": None, "frozen": None, "is_frozen": None, "quote": None}
            return [InvestorWallet(address=address, **unknown) for address in own]


async def _held(market: Any, own: list[str]) -> list[InvestorWallet]:
    """Return each wallet with its tokens, those that are frozen, and its quote currency."""
    if not own:
        return []
    eid, at = market.chain_eid, market.rwa_token_address
    tokens, frozen, quote = await asyncio.gather(
        quote_token.balances_of(eid, at, own),
        token.frozen_of_many(eid, at, own),
        quote_token.balances_of(eid, market.quote_token_address, own),
    )
    return [
        InvestorWallet(
            address=address,
            tokens=str(max(held - stuck, 0)),
            frozen=str(min(held, stuck)),
            is_frozen=is_whole(stuck),
            quote=str(money),
        )
        for address, held, stuck, money in zip(own, tokens, frozen, quote, strict=True)
    ]


async def resting(context: Context, market_id: UUID) -> list[Resting]:
    """Return the open orders of a market, best first; only the investor's own name their maker."""
    return [
        Resting(row.chain_order_id, OrderSide(row.side), int(row.price), int(row.rest), row.own_address or "")
        for row in await context.session.execute(_BOOK, {"market": market_id})
    ]


async def _rows(context: Context, market_id: UUID | None) -> Sequence[Any]:
    values = {"org": context.organization_id, "market": market_id}
    return (await context.session.execute(_MARKETS, values)).all()


def _levels(orders: Iterable[Resting]) -> list[InvestorLevel]:
    levels = groupby(orders, key=lambda order: order.price)
    return [InvestorLevel(price=str(price), amount=str(sum(one.rest for one in some))) for price, some in levels]


def _shown(row: Any, bid: Any, ask: Any) -> InvestorMarket:
    prices = {"last_price": row.last_price, "best_bid": bid, "best_ask": ask}
    return InvestorMarket.model_validate({**row._mapping, **{name: _text(price) for name, price in prices.items()}})


def _text(price: Any) -> str | None:
    return None if price is None else str(int(price))
