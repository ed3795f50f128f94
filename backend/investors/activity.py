"""The investor's orders and claims. Every query names the investor's addresses; row-level security does too."""

from typing import Any

import sqlalchemy as sa

from backend.assets import records
from backend.auth.principal import Context
from backend.investors import profile
from backend.investors.schemas import InvestorClaim, InvestorClaims, InvestorOrder, InvestorOrders

MOST = 100
_ORDERS = sa.text("""
  select o.id, m.asset_id, o.market_id, a.symbol, a.decimals, m.quote_symbol, m.quote_decimals, m.chain_eid, o.side,
    o.status, o.price, o.amount, o.filled, o.maker_address, o.created_at,
    case when o.status in ('open', 'partial') then o.blocked_reason end as blocked_reason
  from orders o join markets m on m.id = o.market_id join assets a on a.id = m.asset_id
  where o.organization_id = :org and o.maker_address = any(:own)
  order by o.status in ('pending', 'open', 'partial') desc, o.created_at desc, o.id desc limit :most
""")
_CLAIMS = sa.text("""
  select d.id as distribution_id, d.name, d.asset_id, a.symbol, a.decimals, d.chain_eid, r.address, r.amount,
    c.tx_hash, d.created_at,
    case when c.id is not null then 'claimed' when d.status = 'active' then 'waiting' else 'closed' end as state
  from distributions d join assets a on a.id = d.asset_id
    join distribution_recipients r on r.distribution_id = d.id and r.address = any(:own)
    left join distribution_claims c on c.distribution_id = d.id and c.index = r.index
  where d.organization_id = :org and d.status in ('active', 'completed', 'cancelled')
  order by c.id is null and d.status = 'active' desc, d.created_at desc, d.id desc, r.index limit :most
""")


async def orders(context: Context) -> InvestorOrders:
    """Return the investor's orders, the open ones first."""
    found, chains = await _found(context, _ORDERS)
    amounts = ("price", "amount", "filled")
    return InvestorOrders(orders=[InvestorOrder(**_shown(row, chains, *amounts)) for row in found])


async def claims(context: Context) -> InvestorClaims:
    """Return the investor's amounts of distributions, those that wait first."""
    found, chains = await _found(context, _CLAIMS)
    return InvestorClaims(claims=[InvestorClaim(**_shown(row, chains, "amount")) for row in found])


async def _found(context: Context, query: sa.TextClause) -> tuple[list[Any], dict[int, str]]:
    values = {"org": context.organization_id, "own": await profile.addresses(context), "most": MOST}
    return list(await context.session.execute(query, values)), await records.chain_names(context.session)


def _shown(row: Any, chains: dict[int, str], *amounts: str) -> dict[str, Any]:
    """Return a row with its amounts as text and the name of its chain."""
    texts = {name: str(int(getattr(row, name))) for name in amounts}
    return {**row._mapping, **texts, "chain_name": chains.get(row.chain_eid, str(row.chain_eid))}
