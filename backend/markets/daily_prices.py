"""Prices and volume of a market by day, from the daily totals of its trades."""

from datetime import date, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.chain.devnet import clock
from backend.core.errors import BadRequest
from backend.daily_totals.models import MarketDayRow
from backend.daily_totals.tokens import day_of
from backend.markets.schemas import DailyPrice, DailyPrices

MOST = 366
"""Days of a response."""


async def between(context: Context, market_id: UUID, since: date | None, until: date | None) -> DailyPrices:
    """Return the days with trades, oldest first; by default those of the last 366 days. 400 for more days, or if the
    first is after the last."""
    last = until or day_of(clock.chain_now())
    first = since or last - min(timedelta(days=MOST - 1), last - date.min)
    if not 0 <= (last - first).days < MOST:
        raise BadRequest(f"since must not be after until, and both must be within {MOST} days.")
    query = sa.select(MarketDayRow).where(
        col(MarketDayRow.market_id) == market_id, col(MarketDayRow.day).between(first, last)
    )
    rows = await context.session.scalars(query.order_by(col(MarketDayRow.day)))
    return DailyPrices(since=first, until=last, days=[_price(row) for row in rows])


def _price(row: MarketDayRow) -> DailyPrice:
    amounts = {name: str(getattr(row, name)) for name in ("open", "high", "low", "close", "amount", "value")}
    return DailyPrice(day=row.day, trades=row.trades, **amounts)
