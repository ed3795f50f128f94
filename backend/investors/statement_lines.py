"""The lines of a statement, per asset: what an investor had before, what changed, and what they had afterwards.

What a market holds for a sell order is the investor's, as in their holdings: only its trades change what they own. A
distribution that pays a quote currency is a line of its asset that leaves the balance as it is.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets import records
from backend.auth.principal import Context
from backend.core.db import now
from backend.core.units import to_whole
from backend.investors import profile
from backend.investors.rules import month_of, value

_CHANGES = """
  with moved as (
    select t.*, to_address = any(:own) as is_in,
      case when to_address = any(:own) then from_address else to_address end as other
    from token_transfers t
    where organization_id = :org and (to_address = any(:own)) <> (from_address = any(:own))
  ), changes as (
    select m.asset_id, m.chain_eid, m.created_at as at, m.block_number, m.log_index, m.tx_hash, m.amount, m.is_in,
      case when m.other = '0x0000000000000000000000000000000000000000' then
             case when m.is_in then 'issued' else 'redeemed' end
           when d.id is not null then 'distribution'
           else case when m.is_in then 'received' else 'sent' end end as entry,
      null::numeric as price, null::numeric as fee, null::text as currency, null::int as quote_decimals,
      null::numeric as paid
    from moved m left join distributions d on d.asset_id = m.asset_id and d.distributor_address = m.other
    where not exists (select from markets k where k.asset_id = m.asset_id and k.market_address = m.other)
    union all
    select k.asset_id, k.chain_eid, t.created_at, t.block_number, t.log_index, t.tx_hash, t.amount, o.side = 'buy',
      case when o.side = 'buy' then 'bought' else 'sold' end, t.price,
      case when o.chain_order_id = t.taker_chain_id then t.taker_fee else t.maker_fee end,
      k.quote_symbol, k.quote_decimals, null
    from orders o join markets k on k.id = o.market_id
      join trades t on t.market_id = o.market_id and o.chain_order_id in (t.maker_chain_id, t.taker_chain_id)
    where o.organization_id = :org and o.maker_address = any(:own)
    union all
    select d.asset_id, d.chain_eid, c.created_at, c.block_number, c.log_index, c.tx_hash, 0, true, 'distribution',
      null, null, d.currency_symbol, d.currency_decimals, c.amount
    from distribution_claims c join distributions d on d.id = c.distribution_id
    where c.organization_id = :org and c.address = any(:own) and d.currency_address is not null
  )
"""
_BEFORE = sa.text(f"""
  {_CHANGES} select asset_id, sum(case when is_in then amount else -amount end) as balance from changes
  where at < :start group by asset_id
""")  # noqa: S608  (no text from outside is in it)
_DURING = sa.text(f"""
  {_CHANGES} select * from changes where at >= :start and at < :until order by at, block_number, log_index, is_in
""")  # noqa: S608
_FIRST = sa.text(f"{_CHANGES} select min(at) from changes")  # noqa: S608
_ASSETS = sa.text("select id, symbol, name, decimals from assets where id = any(:ids) order by lower(symbol), id")
_PRICE = sa.text("select * from signum_investor_price(:asset, :before)")


@dataclass(frozen=True)
class AssetLines:
    """The lines of one asset: the opening balance, every change, the closing balance. Amounts are in whole units."""

    symbol: str
    name: str
    lines: list[dict[str, str | None]]


@dataclass(frozen=True)
class Statement:
    """What an investor owned in a period, by the symbol of the asset."""

    start: datetime
    end: datetime
    assets: list[AssetLines]


async def first_change(context: Context) -> datetime | None:
    """Return when something the investor owns first changed."""
    found: datetime | None = await context.session.scalar(_FIRST, await _who(context))
    return found


async def read(context: Context, month: str) -> Statement:
    """Return the statement of a month (`2026-11`, in UTC); that of the current month ends now."""
    start, until = month_of(month)
    end = min(until, now())
    values = {**await _who(context), "start": start, "until": until}
    before = {r.asset_id: int(r.balance) for r in await context.session.execute(_BEFORE, values) if r.balance}
    during: dict[UUID, list[Any]] = defaultdict(list)
    for row in await context.session.execute(_DURING, values):
        during[row.asset_id].append(row)
    chains = await records.chain_names(context.session)
    assets = []
    for asset in await context.session.execute(_ASSETS, {"ids": list({*before, *during})}):
        price = (await context.session.execute(_PRICE, {"asset": asset.id, "before": until})).first()
        lines = _of_asset(asset, before.get(asset.id, 0), during[asset.id], chains, price, (start, end))
        assets.append(AssetLines(asset.symbol, asset.name, list(lines)))
    return Statement(start, end, assets)


def _of_asset(
    asset: Any,
    balance: int,
    rows: list[Any],
    chains: dict[int, str],
    price: Any,
    period: tuple[datetime, datetime],
) -> Iterator[dict[str, str | None]]:
    def whole(units: int) -> str:
        return to_whole(units, asset.decimals)

    yield {"time": _stamp(period[0]), "entry": "opening balance", "asset": asset.symbol, "balance": whole(balance)}
    for row in rows:
        amount = int(row.amount)
        balance += amount if row.is_in else -amount
        line = {"time": _stamp(row.at), "entry": row.entry, "asset": asset.symbol, "tx_hash": row.tx_hash}
        line |= {"balance": whole(balance), "chain": chains.get(row.chain_eid, str(row.chain_eid))}
        if row.paid is not None:
            line |= {"value": to_whole(int(row.paid), row.quote_decimals), "currency": row.currency}
        else:
            line["in" if row.is_in else "out"] = whole(amount)
        if row.price is not None:
            line |= _money(int(row.price), amount, asset.decimals, row.currency, row.quote_decimals)
            line["fee"] = to_whole(int(row.fee), row.quote_decimals or 0)
        yield line
    closing = {"time": _stamp(period[1]), "entry": "closing balance", "asset": asset.symbol, "balance": whole(balance)}
    if price is not None:
        closing |= _money(int(price.price), balance, asset.decimals, price.quote_symbol, price.quote_decimals)
    yield closing


def _money(
    price: int, amount: int, decimals: int, currency: str | None, quote_decimals: int | None
) -> dict[str, str | None]:
    worth = {"price": price, "value": value(price, amount, decimals)}
    return {"currency": currency} | {name: to_whole(units, quote_decimals or 0) for name, units in worth.items()}


def _stamp(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


async def _who(context: Context) -> dict[str, Any]:
    return {"org": context.organization_id, "own": await profile.addresses(context)}
