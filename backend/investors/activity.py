"""The investor's orders and claims. Every query names the investor's addresses; row-level security does too."""

from typing import Any

import sqlalchemy as sa

from backend.assets import records
from backend.auth.principal import Context
from backend.investors import profile
from backend.investors.schemas import (
    InvestorClaim,
    InvestorClaims,
    InvestorOrder,
    InvestorOrders,
    InvestorTrade,
    InvestorTrades,
)
from backend.markets import rules
from backend.markets.schemas import OrderSide

MOST = 100
ORDERS = """
  select o.id, m.asset_id, o.market_id, a.symbol, a.decimals, m.quote_symbol, m.quote_decimals, m.chain_eid, o.side,
    o.status, o.price, o.amount, o.filled, o.maker_address, o.created_at,
    case when o.status in ('open', 'partial') then o.blocked_reason end as blocked_reason
  from orders o join markets m on m.id = o.market_id join assets a on a.id = m.asset_id
  where o.organization_id = :org and o.maker_address = any(:own)
"""
CLAIMS = """
  select d.id as distribution_id, d.name, d.asset_id, coalesce(d.currency_symbol, a.symbol) as symbol,
    coalesce(d.currency_decimals, a.decimals) as decimals, d.chain_eid, r.address, r.amount, c.tx_hash, d.created_at,
    case when c.id is not null then 'claimed' when d.status = 'active' then 'waiting' else 'closed' end as state,
    r.address in (select signum_investor_kept()) as is_kept,
    case when c.id is null and d.status = 'active' then
      case signum_investor_payment(d.id, r.address) when 'accepted' then 'sending' when 'running' then 'sending'
        when 'failed' then 'failed' end
    end as payment
  from distributions d join assets a on a.id = d.asset_id
    join distribution_recipients r on r.distribution_id = d.id and r.address = any(:own)
    left join distribution_claims c on c.distribution_id = d.id and c.index = r.index
  where d.organization_id = :org and d.status in ('active', 'completed', 'cancelled')
"""
TRADES = """
  select t.id, k.asset_id, t.market_id, o.id as order_id, a.symbol, a.decimals, k.quote_symbol, k.quote_decimals,
    k.chain_eid, o.side, t.price, t.amount, t.tx_hash, t.created_at as executed_at,
    case when o.chain_order_id = t.taker_chain_id then t.taker_fee else t.maker_fee end as fee,
    o.chain_order_id = t.taker_chain_id as is_taker
  from orders o join markets k on k.id = o.market_id join assets a on a.id = k.asset_id
    join trades t on t.market_id = o.market_id and o.chain_order_id in (t.maker_chain_id, t.taker_chain_id)
  where o.organization_id = :org and o.maker_address = any(:own)
"""
"""Everything that is the investor's, in no order."""
_OPEN_FIRST = "o.status in ('pending', 'open', 'partial') desc, o.created_at desc, o.id desc"
_WAITING_FIRST = "c.id is null and d.status = 'active' desc, d.created_at desc, d.id desc, r.index"
_NEWEST_FIRST = "t.created_at desc, t.block_number desc, t.log_index desc, o.id"


async def orders(context: Context) -> InvestorOrders:
    """Return the investor's orders, the open ones first."""
    return InvestorOrders(orders=await orders_page(context, _OPEN_FIRST))


async def claims(context: Context) -> InvestorClaims:
    """Return the investor's amounts of distributions, those that wait first."""
    return InvestorClaims(claims=await claims_page(context, _WAITING_FIRST))


async def trades(context: Context) -> InvestorTrades:
    """Return the investor's trades, the newest first."""
    return InvestorTrades(trades=await trades_page(context, _NEWEST_FIRST))


async def orders_page(context: Context, order: str, most: int = MOST, skip: int = 0) -> list[InvestorOrder]:
    """Return some of the investor's orders. `order`: SQL of this package."""
    found, chains = await _found(context, ORDERS, order, most, skip)
    return [InvestorOrder(**_shown(row, chains, "price", "amount", "filled")) for row in found]


async def claims_page(context: Context, order: str, most: int = MOST, skip: int = 0) -> list[InvestorClaim]:
    """Return some of the investor's amounts of distributions."""
    found, chains = await _found(context, CLAIMS, order, most, skip)
    return [InvestorClaim(**_shown(row, chains, "amount")) for row in found]


async def trades_page(context: Context, order: str, most: int = MOST, skip: int = 0) -> list[InvestorTrade]:
    """Return some of the investor's trades. The value is rounded as the market rounds it: against the taker."""
    found, chains = await _found(context, TRADES, order, most, skip)
    return [InvestorTrade(**_shown(row, chains, "price", "amount", "fee"), value=str(_value(row))) for row in found]


def _value(row: Any) -> int:
    is_taker_buying = row.is_taker == (row.side == OrderSide.BUY)
    return rules.cost(int(row.price), int(row.amount), row.decimals, is_taker_buying=is_taker_buying)


async def _found(context: Context, query: str, order: str, most: int, skip: int) -> tuple[list[Any], dict[int, str]]:
    own = await profile.addresses(context)
    values = {"org": context.organization_id, "own": own, "most": most, "skip": skip}
    text = sa.text(f"{query} order by {order} limit :most offset :skip")
    return list(await context.session.execute(text, values)), await records.chain_names(context.session)


def _shown(row: Any, chains: dict[int, str], *amounts: str) -> dict[str, Any]:
    """Return a row with its amounts as text and the name of its chain."""
    texts = {name: str(int(getattr(row, name))) for name in amounts}
    return {**row._mapping, **texts, "chain_name": chains.get(row.chain_eid, str(row.chain_eid))}
