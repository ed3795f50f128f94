"""The investor's holdings and their value. Every query names the investor's addresses; row-level security does too."""

import asyncio
from collections import defaultdict
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets import records
from backend.auth.principal import Context
from backend.chain.bindings import token
from backend.controls.rules import is_whole
from backend.core import db
from backend.core.errors import SignumError
from backend.investors import cash, profile, rules
from backend.investors.schemas import InvestorAccount, InvestorHolding, InvestorHoldings

PATIENCE = 3.0
"""Seconds that a chain has to return frozen amounts."""
_OWNED = sa.text("""
  with moved as (
    select asset_id, chain_eid, to_address as address, amount, 0 as escrowed, created_at as at from token_transfers
    where organization_id = :org and to_address = any(:own)
    union all
    select asset_id, chain_eid, from_address, -amount, 0, null from token_transfers
    where organization_id = :org and from_address = any(:own)
    union all
    select m.asset_id, m.chain_eid, o.maker_address, o.amount - o.filled, o.amount - o.filled, null
    from orders o join markets m on m.id = o.market_id
    where o.organization_id = :org and o.maker_address = any(:own) and o.side = 'sell'
      and o.status in ('open', 'partial')
  ), owned as (
    select asset_id, chain_eid, address, sum(amount) as total, sum(escrowed) as in_orders, min(at) as since from moved
    group by asset_id, chain_eid, address having sum(amount) > 0
  )
  select o.*, a.name, a.symbol, a.decimals, d.token_address
  from owned o join assets a on a.id = o.asset_id
    left join asset_deployments d on d.asset_id = o.asset_id and d.chain_eid = o.chain_eid
  order by lower(a.symbol), o.asset_id, o.chain_eid, o.address
""")
_PRICES = sa.text("""
  select distinct on (asset_id) asset_id, last_price, last_trade_at, quote_symbol, quote_decimals from markets
  where organization_id = :org and asset_id = any(:assets) and last_price is not null and last_trade_at is not null
  order by asset_id, last_trade_at desc, id
""")


async def of(context: Context) -> InvestorHoldings:
    """Return what the investor holds, with frozen amounts from the chains and the value at the last trade."""
    own = await profile.addresses(context)
    found = list(await context.session.execute(_OWNED, {"org": context.organization_id, "own": own}))
    chains = await records.chain_names(context.session)
    prices = await _prices(context, {row.asset_id for row in found})
    frozen = await _frozen(context, found)
    by_asset: dict[UUID, list[Any]] = defaultdict(list)
    for row in found:
        by_asset[row.asset_id].append(row)
    return InvestorHoldings(
        holdings=[
            _holding(rows, [_account(r, chains, frozen.get((r.chain_eid, r.token_address, r.address))) for r in rows],
                     prices.get(asset))
            for asset, rows in by_asset.items()
        ],
        cash=await cash.of(context),
    )  # fmt: skip


async def held(context: Context, own: list[str]) -> dict[tuple[UUID, int, str], int]:
    """Return the amounts that addresses of the investor hold, by asset, chain and address."""
    rows = await context.session.execute(_OWNED, {"org": context.organization_id, "own": own})
    return {(row.asset_id, row.chain_eid, row.address): int(row.total) for row in rows}


async def _prices(context: Context, assets: set[UUID]) -> dict[UUID, Any]:
    rows = await context.session.execute(_PRICES, {"org": context.organization_id, "assets": list(assets)})
    return {row.asset_id: row for row in rows}


async def _frozen(context: Context, found: list[Any]) -> dict[tuple[int, str, str], int]:
    """Return frozen amounts by chain, token and address, without those of chains that do not answer."""
    asked: dict[tuple[int, str], list[str]] = defaultdict(list)
    for row in found:
        if row.token_address:
            asked[row.chain_eid, row.token_address].append(row.address)
    async with db.paused(context.session):
        answers = await asyncio.gather(*(_read(eid, at, addresses) for (eid, at), addresses in asked.items()))
    return {
        (eid, at, address): amount
        for (eid, at), amounts in zip(asked, answers, strict=True)
        for address, amount in amounts.items()
    }


async def _read(eid: int, at: str, addresses: list[str]) -> dict[str, int]:
    try:
        async with asyncio.timeout(PATIENCE):
            return dict(zip(addresses, await token.frozen_of_many(eid, at, addresses), strict=True))
    except (SignumError, TimeoutError):
        return {}


def _account(row: Any, chains: dict[int, str], frozen: int | None) -> InvestorAccount:
    total, in_orders = int(row.total), int(row.in_orders)
    return InvestorAccount(
        chain_eid=row.chain_eid,
        chain_name=chains.get(row.chain_eid, str(row.chain_eid)),
        address=row.address,
        total=str(total),
        in_orders=str(in_orders),
        frozen=_text(rules.frozen_part(total - in_orders, frozen)),
        is_frozen=None if frozen is None else is_whole(frozen),
        available=_text(rules.available(total, in_orders, frozen)),
    )


def _holding(rows: list[Any], accounts: list[InvestorAccount], price: Any) -> InvestorHolding:
    asset, total = rows[0], sum(int(account.total) for account in accounts)
    return InvestorHolding(
        asset_id=asset.asset_id,
        name=asset.name,
        symbol=asset.symbol,
        decimals=asset.decimals,
        since=min((row.since for row in rows if row.since is not None), default=None),
        total=str(total),
        in_orders=str(sum(int(account.in_orders) for account in accounts)),
        frozen=_sum([account.frozen for account in accounts]),
        available=_sum([account.available for account in accounts]),
        value=None if price is None else str(rules.value(int(price.last_price), total, asset.decimals)),
        price=None if price is None else str(int(price.last_price)),
        priced_at=None if price is None else price.last_trade_at,
        quote_symbol=None if price is None else price.quote_symbol,
        quote_decimals=None if price is None else price.quote_decimals,
        accounts=accounts,
    )


def _sum(parts: list[str | None]) -> str | None:
    """Return the sum; None where a part is unknown."""
    known = [int(part) for part in parts if part is not None]
    return str(sum(known)) if len(known) == len(parts) else None


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)
