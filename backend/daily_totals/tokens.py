"""Daily totals of tokens: mints, burns, transfers, and by how much the number of holders changed."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any, Protocol
from uuid import UUID

import sqlalchemy as sa

from backend.core import db, locks
from backend.core.addresses import ZERO_ADDRESS
from backend.core.locks import Purpose
from backend.daily_totals import holders

_GONE = sa.text("delete from asset_days where asset_id = :asset and day = any(cast(:days as date[]))")
_DAYS = sa.text("""
  insert into asset_days (organization_id, asset_id, day, mints, burns, transfers, minted, burnt, holders)
  select a.organization_id, a.id, w.day, t.mints, t.burns, t.transfers, t.minted, t.burnt, h.change
  from unnest(cast(:days as date[])) w (day) join assets a on a.id = :asset
  cross join lateral (
    select count(*) filter (where t.from_address = :zero) as mints,
      count(*) filter (where t.to_address = :zero) as burns,
      count(*) filter (where :zero not in (t.from_address, t.to_address) and not exists (
        select from markets m where m.asset_id = a.id and m.market_address in (t.from_address, t.to_address)
      )) as transfers,
      coalesce(sum(t.amount) filter (where t.from_address = :zero), 0) as minted,
      coalesce(sum(t.amount) filter (where t.to_address = :zero), 0) as burnt
    from token_transfers t where t.asset_id = a.id
      and t.created_at >= w.day::timestamp at time zone 'UTC'
      and t.created_at < (w.day + 1)::timestamp at time zone 'UTC'
  ) t
  cross join lateral (
    select coalesce(sum(change), 0) as change from holder_changes where asset_id = a.id and day = w.day
  ) h
  where t.mints + t.burns + t.transfers > 0 or h.change <> 0
  on conflict (asset_id, day) do update set mints = excluded.mints, burns = excluded.burns,
    transfers = excluded.transfers, minted = excluded.minted, burnt = excluded.burnt, holders = excluded.holders
  returning day
""")
_ASSETS = sa.table("assets", sa.column("id", sa.Uuid()), sa.column("organization_id", sa.Uuid()))


class Moved(Protocol):
    """A transfer of a token that appeared or disappeared; a row of `token_transfers`."""

    asset_id: UUID
    created_at: datetime
    from_address: str
    to_address: str


async def refresh(session: db.Write, moved: Iterable[Moved | Any]) -> None:
    """Write the days and the holders again that some transfers concern, which are inserted or deleted already."""
    days, addresses = defaultdict[UUID, set[date]](set), defaultdict[UUID, set[str]](set)
    for one in moved:
        days[one.asset_id].add(day_of(one.created_at))
        addresses[one.asset_id] |= {one.from_address, one.to_address} - {ZERO_ADDRESS}
    for asset_id in days:
        await refresh_holders(session, asset_id, addresses[asset_id], days[asset_id])


async def refresh_holders(
    session: db.Write, asset_id: UUID, addresses: Iterable[str], days: Iterable[date] = ()
) -> None:
    """Write again on which days some addresses became holders of an asset or stopped being ones, and the totals of
    these days and of the given ones."""
    # Another chain may be writing days of the same asset.
    owner = sa.select(_ASSETS.c.organization_id, locks.waited(Purpose.DAILY_TOTALS, ""))
    org: UUID = (await session.execute(owner.where(_ASSETS.c.id == asset_id))).scalar_one()
    written = await holders.write(session, org, asset_id, addresses, days) | set(days)
    kept = set(await session.scalars(_DAYS, {"asset": asset_id, "days": sorted(written), "zero": ZERO_ADDRESS}))
    if empty := sorted(written - kept):
        await session.execute(_GONE, {"asset": asset_id, "days": empty})


def day_of(at: datetime) -> date:
    """Return the UTC day of a time."""
    return at.astimezone(UTC).date()
