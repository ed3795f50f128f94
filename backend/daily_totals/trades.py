"""Daily totals of markets: prices and volume of each day with trades, and the holders that its trades concern."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, Protocol
from uuid import UUID

import sqlalchemy as sa

from backend.core import db
from backend.daily_totals import tokens

_DAYS = sa.text("""
  insert into market_days (organization_id, market_id, day, trades, open, high, low, close, amount, value, last_at)
  select t.organization_id, t.market_id, w.day, count(*),
    (array_agg(t.price order by t.block_number, t.log_index))[1], max(t.price), min(t.price),
    (array_agg(t.price order by t.block_number desc, t.log_index desc))[1],
    sum(t.amount), sum(div(t.price * t.amount, power(10::numeric, a.decimals))), max(t.created_at)
  from unnest(cast(:days as date[])) w (day) join trades t on t.market_id = :market
    and t.created_at >= w.day::timestamp at time zone 'UTC'
    and t.created_at < (w.day + 1)::timestamp at time zone 'UTC'
  join markets m on m.id = t.market_id join assets a on a.id = m.asset_id
  group by 1, 2, 3
  on conflict (market_id, day) do update set trades = excluded.trades, open = excluded.open, high = excluded.high,
    low = excluded.low, close = excluded.close, amount = excluded.amount, value = excluded.value,
    last_at = excluded.last_at
  returning day
""")
_GONE = sa.text("delete from market_days where market_id = :market and day = any(cast(:days as date[]))")
_ASSET = sa.text("select asset_id from markets where id = :market")
_MAKERS = sa.text("""
  select distinct maker_address from orders where market_id = :market and chain_order_id is not null
    and (cast(:numbers as bigint[]) is null or chain_order_id = any(cast(:numbers as bigint[])))
""")


class Traded(Protocol):
    """A trade that appeared or disappeared; a row of `trades`."""

    market_id: UUID
    created_at: datetime
    maker_chain_id: int
    taker_chain_id: int


async def refresh(session: db.Write, traded: Iterable[Traded | Any]) -> None:
    """Write the days and the holders again that some trades concern, which are inserted or deleted already. The orders
    that they filled are there."""
    days, orders = defaultdict[UUID, set[date]](set), defaultdict[UUID, set[int]](set)
    for one in traded:
        days[one.market_id].add(tokens.day_of(one.created_at))
        orders[one.market_id] |= {one.maker_chain_id, one.taker_chain_id}
    for market_id in sorted(days):
        kept = set(await session.scalars(_DAYS, {"market": market_id, "days": sorted(days[market_id])}))
        if empty := sorted(days[market_id] - kept):
            await session.execute(_GONE, {"market": market_id, "days": empty})
        asset_id: UUID = (await session.execute(_ASSET, {"market": market_id})).scalar_one()
        sides = await makers(session, market_id, orders[market_id])
        await tokens.refresh_holders(session, asset_id, sides, days[market_id])


async def makers(session: db.Write, market_id: UUID, numbers: Iterable[int] | None = None) -> set[str]:
    """Return who placed the orders of a market: all of them, or those with some numbers on chain."""
    values = {"market": market_id, "numbers": None if numbers is None else sorted(numbers)}
    return set(await session.scalars(_MAKERS, values))
