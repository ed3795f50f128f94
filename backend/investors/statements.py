"""Statements of a month: what an investor had before, what changed, and what they had afterwards, per asset.

What a market holds for a sell order is the investor's, as in their holdings: only its trades change what they own.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets import records
from backend.auth.principal import Context
from backend.core.db import now
from backend.core.units import to_whole
from backend.exports.csv_lists import cell
from backend.investors import profile
from backend.investors.rules import month_of, months_between, value
from backend.investors.schemas import InvestorStatement, InvestorStatements

COLUMNS = ("time", "entry", "asset", "chain", "in", "out", "balance", "price", "value", "fee", "currency", "tx_hash")
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
      null::numeric as price, null::numeric as fee, null::text as currency, null::int as quote_decimals
    from moved m left join distributions d on d.asset_id = m.asset_id and d.distributor_address = m.other
    where not exists (select from markets k where k.asset_id = m.asset_id and k.market_address = m.other)
    union all
    select k.asset_id, k.chain_eid, t.created_at, t.block_number, t.log_index, t.tx_hash, t.amount, o.side = 'buy',
      case when o.side = 'buy' then 'bought' else 'sold' end, t.price,
      case when o.chain_order_id = t.taker_chain_id then t.taker_fee else t.maker_fee end,
      k.quote_symbol, k.quote_decimals
    from orders o join markets k on k.id = o.market_id
      join trades t on t.market_id = o.market_id and o.chain_order_id in (t.maker_chain_id, t.taker_chain_id)
    where o.organization_id = :org and o.maker_address = any(:own)
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
_ASSETS = sa.text("select id, symbol, decimals from assets where id = any(:ids) order by lower(symbol), id")
_PRICE = sa.text("select * from signum_investor_price(:asset, :before)")


async def months(context: Context) -> InvestorStatements:
    """Return the months with a statement, the newest first: from the first change to the current month."""
    first = await context.session.scalar(_FIRST, await _who(context))
    today = now()
    shown = [] if first is None else months_between(first, max(first, today))
    return InvestorStatements(
        statements=[InvestorStatement(month=month, is_complete=month < f"{today:%Y-%m}") for month in reversed(shown)]
    )


async def lines(context: Context, month: str) -> str:
    """Return the statement of a month (`2026-11`, in UTC) as CSV."""
    start, until = month_of(month)
    values = {**await _who(context), "start": start, "until": until}
    before = {r.asset_id: int(r.balance) for r in await context.session.execute(_BEFORE, values) if r.balance}
    during: dict[UUID, list[Any]] = defaultdict(list)
    for row in await context.session.execute(_DURING, values):
        during[row.asset_id].append(row)
    ids = list({*before, *during})
    chains = await records.chain_names(context.session)
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(COLUMNS)
    for asset in await context.session.execute(_ASSETS, {"ids": ids}):
        price = (await context.session.execute(_PRICE, {"asset": asset.id, "before": until})).first()
        for line in _of_asset(
            asset, before.get(asset.id, 0), during[asset.id], chains, price, (start, min(until, now()))
        ):
            writer.writerow([cell(line.get(column)) for column in COLUMNS])
    return written.getvalue()


def _of_asset(
    asset: Any,
    balance: int,
    rows: list[Any],
    chains: dict[int, str],
    price: Any,
    period: tuple[datetime, datetime],
) -> Iterator[dict[str, Any]]:
    def whole(units: int) -> str:
        return to_whole(units, asset.decimals)

    yield {"time": _stamp(period[0]), "entry": "opening balance", "asset": asset.symbol, "balance": whole(balance)}
    for row in rows:
        amount = int(row.amount)
        balance += amount if row.is_in else -amount
        line = {"time": _stamp(row.at), "entry": row.entry, "asset": asset.symbol, "tx_hash": row.tx_hash}
        line |= {"in" if row.is_in else "out": whole(amount), "balance": whole(balance)}
        line["chain"] = chains.get(row.chain_eid, str(row.chain_eid))
        if row.price is not None:
            line |= _money(int(row.price), amount, asset.decimals, row.currency, row.quote_decimals)
            line["fee"] = to_whole(int(row.fee), row.quote_decimals or 0)
        yield line
    closing = {"time": _stamp(period[1]), "entry": "closing balance", "asset": asset.symbol, "balance": whole(balance)}
    if price is not None:
        closing |= _money(int(price.price), balance, asset.decimals, price.quote_symbol, price.quote_decimals)
    yield closing


def _money(price: int, amount: int, decimals: int, currency: str | None, quote_decimals: int | None) -> dict[str, Any]:
    worth = {"price": price, "value": value(price, amount, decimals)}
    return {"currency": currency} | {name: to_whole(units, quote_decimals or 0) for name, units in worth.items()}


def _stamp(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


async def _who(context: Context) -> dict[str, Any]:
    return {"org": context.organization_id, "own": await profile.addresses(context)}
