"""Daily totals by the places of a calendar: how many of each happened after the day of one place, up to that of the
next."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.insight.rules import Calendar

_PLACE = "width_bucket({day}, cast(:starts as date[]))"
_TOKENS = sa.text(f"""
  select asset_id, {_PLACE.format(day="day")} as place, sum(minted) as minted, sum(burnt) as burnt,
    sum(mints) as mints, sum(burns) as burns
  from asset_days where organization_id = :org and day <= :today group by 1, 2
""")  # noqa: S608  (no text from outside is in it)
_TRANSFERS = sa.text(f"""
  select {_PLACE.format(day="day")} as place, sum(transfers) as transfers
  from asset_days where organization_id = :org and day <= :today group by 1
""")  # noqa: S608
_MARKETS = sa.text(f"""
  select market_id, {_PLACE.format(day="day")} as place, sum(trades) as trades, sum(value) as value,
    (array_agg(close order by day desc))[1] as close, max(last_at) as last_at
  from market_days where organization_id = :org and day <= :today group by 1, 2
""")  # noqa: S608
_OTHERS = """
  select address from wallets where organization_id = :org and is_default
  union select distributor_address from distributions where organization_id = :org and distributor_address is not null
"""
"""Addresses that are no holders: treasuries, and contracts that hold for others."""
_HOLDERS = sa.text(f"""
  select asset_id, {_PLACE.format(day="day")} as place, sum(change) as change from (
    select asset_id, day, holders as change from asset_days where organization_id = :org and holders <> 0
    union all
    select asset_id, day, -change from holder_changes where organization_id = :org and address in ({_OTHERS})
  ) c where day <= :today group by 1, 2
""")  # noqa: S608
_ANY = sa.text(f"""
  select {_PLACE.format(day="day")} as place, sum(change) as change from (
    select day, holders as change from organization_days where organization_id = :org
    union all
    select day, -change from any_holder_changes where organization_id = :org and address in ({_OTHERS})
  ) c where day <= :today group by 1
""")  # noqa: S608
_ATTESTED = sa.text(f"""
  with attested as (
    select attested_at, least(revoked_at, expires_at) as ended_at from attestations
    where organization_id = :org and attested_at <= :now and status in ('active', 'revoked', 'expired')
  )
  select {_PLACE.format(day="(at at time zone 'UTC')::date")} as place, sum(change) as change,
    count(*) filter (where change = 1) as issued
  from (
    select attested_at as at, 1 as change from attested
    union all select ended_at, -1 from attested where ended_at <= :now
  ) c group by 1
""")  # noqa: S608

Places = dict[int, int]
"""Something by place."""


@dataclass
class TokenTotals:
    """The tokens of an asset. `supply` are its changes."""

    supply: Places = field(default_factory=dict)
    mints: Places = field(default_factory=dict)
    burns: Places = field(default_factory=dict)
    holders: Places = field(default_factory=dict)


@dataclass
class MarketTotals:
    """The trades of a market; `closes` are the last price and its time, `value` is in base units of its currency."""

    trades: Places = field(default_factory=dict)
    value: Places = field(default_factory=dict)
    closes: dict[int, tuple[datetime, int]] = field(default_factory=dict)


async def of_tokens(context: Context, calendar: Calendar) -> dict[UUID, TokenTotals]:
    """Return the totals of every asset that has any."""
    found = defaultdict[UUID, TokenTotals](TokenTotals)
    for row in await context.session.execute(_TOKENS, _values(context, calendar)):
        one = found[row.asset_id]
        one.supply[row.place] = int(row.minted) - int(row.burnt)
        one.mints[row.place], one.burns[row.place] = row.mints, row.burns
    for row in await context.session.execute(_HOLDERS, _values(context, calendar)):
        found[row.asset_id].holders[row.place] = row.change
    return found


async def of_transfers(context: Context, calendar: Calendar) -> Places:
    """Return how many transfers between accounts there were, of any asset."""
    rows = await context.session.execute(_TRANSFERS, _values(context, calendar))
    return {row.place: row.transfers for row in rows}


async def of_markets(context: Context, calendar: Calendar) -> dict[UUID, MarketTotals]:
    """Return the totals of every market that has any."""
    found = defaultdict[UUID, MarketTotals](MarketTotals)
    for row in await context.session.execute(_MARKETS, _values(context, calendar)):
        one = found[row.market_id]
        one.trades[row.place], one.value[row.place] = row.trades, int(row.value)
        one.closes[row.place] = (row.last_at, int(row.close))
    return found


async def of_holders(context: Context, calendar: Calendar) -> Places:
    """Return the changes of the number of addresses that hold any asset."""
    return {row.place: row.change for row in await context.session.execute(_ANY, _values(context, calendar))}


async def of_attestations(context: Context, calendar: Calendar, now: datetime) -> tuple[Places, Places]:
    """Return the changes of the number of valid attestations, and how many were issued."""
    rows = (await context.session.execute(_ATTESTED, _values(context, calendar) | {"now": now})).all()
    return {row.place: row.change for row in rows}, {row.place: row.issued for row in rows}


def _values(context: Context, calendar: Calendar) -> dict[str, Any]:
    # The last place ends today: what is after it has no place.
    return {"org": context.organization_id, "starts": calendar.starts[:-1], "today": calendar.today}
