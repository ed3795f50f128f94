"""Prices and volume of an asset across its markets, by day or by month, from the daily totals of their trades."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets import records
from backend.auth.principal import Context
from backend.chain.devnet import clock
from backend.core.errors import BadRequest
from backend.daily_totals.tokens import day_of
from backend.insight import rules
from backend.insight.rules import Quote
from backend.insight.schemas import CHANGE_DAYS, AssetPrice, AssetPrices, Currency, PriceStep

_MARKETS = sa.text("""
  select m.id, m.quote_symbol, m.quote_decimals, m.status, d.trades, d.first
  from markets m cross join lateral (
    select coalesce(sum(trades), 0) as trades, min(day) as first from market_days where market_id = m.id
  ) d
  where m.organization_id = :org and m.asset_id = :asset order by m.created_at, m.id
""")
_LAST = sa.text("""
  select close, last_at, market_id from market_days
  where organization_id = :org and market_id = any(:markets) and day <= :day order by day desc, last_at desc limit 1
""")
_PERIODS = sa.text("""
  select cast(date_trunc(:step, day) as date) as first, sum(trades) as trades, max(high) as high, min(low) as low,
    (array_agg(close order by last_at desc, market_id))[1] as close, sum(amount) as amount, sum(value) as value
  from market_days
  where organization_id = :org and market_id = any(:markets) and day between :since and :until
  group by 1 order by 1
""")


async def read(
    context: Context, asset_id: UUID, since: date | None, until: date | None, step: PriceStep
) -> AssetPrices:
    """Return the prices of an asset in the currency of most of its trades. 404 if the asset does not exist, 400 for
    more periods than a response has."""
    await records.asset(context.session, context.organization_id, asset_id)
    found = (await context.session.execute(_MARKETS, {"org": context.organization_id, "asset": asset_id})).all()
    known = [market for market in found if market.quote_symbol is not None and market.quote_decimals is not None]
    currency = rules.currency_of([Quote(m.quote_symbol, m.quote_decimals, int(m.trades)) for m in known])
    counted = [market for market in known if (market.quote_symbol, market.quote_decimals) == currency]
    firsts = [market.first for market in counted if market.first is not None]
    today = day_of(clock.chain_now())
    first, last = rules.span_of(step, since, until, min(firsts, default=None), today)
    if first > last or rules.periods_between(step, first, last) > rules.MOST_PERIODS:
        raise BadRequest(f"since must not be after until, and both must be within {rules.MOST_PERIODS} {step}s.")
    markets = [market.id for market in counted]
    newest = await _last(context, markets, today)
    earlier = await _last(context, markets, today - timedelta(days=CHANGE_DAYS))
    values = {"org": context.organization_id, "markets": markets, "since": first, "until": last, "step": step.value}
    return AssetPrices(
        currency=None if currency is None else Currency(symbol=currency[0], decimals=currency[1]),
        price=None if newest is None else str(newest.close),
        priced_at=None if newest is None else newest.last_at,
        market_id=None if newest is None else newest.market_id,
        before=None if earlier is None else str(earlier.close),
        markets=len(found),
        omitted_markets=len(known) - len(counted),
        first_trade=min(firsts, default=None),
        since=first,
        until=last,
        step=step,
        periods=[_period(row) for row in await context.session.execute(_PERIODS, values)],
    )


async def _last(context: Context, markets: Sequence[UUID], day: date) -> Any:
    """Return the last trade in some markets up to the end of a day; None without one."""
    values = {"org": context.organization_id, "markets": markets, "day": day}
    return (await context.session.execute(_LAST, values)).one_or_none()


def _period(row: Any) -> AssetPrice:
    amounts = {name: str(int(getattr(row, name))) for name in ("high", "low", "close", "amount", "value")}
    return AssetPrice(first=row.first, trades=row.trades, **amounts)
