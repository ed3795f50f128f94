"""Days on which addresses became holders, or stopped being ones.

Markets, orders and trades are read by table name: they are above this package.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from uuid import UUID

import sqlalchemy as sa

from backend.core import db
from backend.core.addresses import ZERO_ADDRESS

_TURNS = """
  days as (select address, day, sum(net) as net from moved group by 1, 2),
  sums as (select address, day, sum(net) over (partition by address order by day) > 0 as holds from days),
  turns as (select *, lag(holds, 1, false) over (partition by address order by day) as held from sums)
"""
"""The days at whose end addresses hold something and did not before, or the reverse, from what `moved` on each day."""
_EVENTS = f"""
  with venues as (select market_address from markets where asset_id = :asset and market_address is not null),
  events as (
    select to_address as address, created_at, amount from token_transfers
    where asset_id = :asset and to_address = any(:addresses) and from_address not in (select market_address from venues)
    union all
    select from_address, created_at, -amount from token_transfers
    where asset_id = :asset and from_address = any(:addresses) and to_address not in (select market_address from venues)
    union all
    select o.maker_address, t.created_at, case when o.side = 'buy' then t.amount else -t.amount end
    from orders o join markets m on m.id = o.market_id join lateral (
      select created_at, amount from trades where market_id = o.market_id and maker_chain_id = o.chain_order_id
      union all
      select created_at, amount from trades where market_id = o.market_id and taker_chain_id = o.chain_order_id
    ) t on true
    where m.asset_id = :asset and o.maker_address = any(:addresses) and o.chain_order_id is not null
  ),
  moved as (
    select address, (created_at at time zone 'UTC')::date as day, amount as net from events
    where address <> :zero and address not in (select market_address from venues)
  ), {_TURNS}
"""  # noqa: S608  (no text from outside is in it)
_OF_ASSET = sa.text(f"""{_EVENTS}
  insert into holder_changes (organization_id, asset_id, address, day, change)
  select a.organization_id, a.id, address, day, case when holds then 1 else -1 end
  from turns join assets a on a.id = :asset where holds <> held returning day
""")  # noqa: S608
_DIFFERS = sa.text(f"""{_EVENTS},
  right_ones as (select address, day, case when holds then 1 else -1 end as change from turns where holds <> held),
  stored as (select address, day, change from holder_changes where asset_id = :asset and address = any(:addresses))
  select exists (
    (table right_ones except table stored) union all (table stored except table right_ones)
  )
""")  # noqa: S608
"""Whether any change of some addresses differs from the stored ones. Most transfers make no one a holder."""
_OF_ANY = sa.text(f"""
  with moved as (
    select address, day, change as net from holder_changes where organization_id = :org and address = any(:addresses)
  ), {_TURNS}
  insert into any_holder_changes (organization_id, address, day, change)
  select :org, address, day, case when holds then 1 else -1 end from turns where holds <> held returning day
""")  # noqa: S608
_DAYS = sa.text("""
  insert into organization_days (organization_id, day, holders)
  select :org, w.day, h.change from unnest(cast(:days as date[])) w (day) cross join lateral (
    select sum(change) as change from any_holder_changes where organization_id = :org and day = w.day
  ) h where h.change <> 0
""")
_STEADY = sa.text("""
  select w.address from unnest(cast(:addresses as text[])) w (address)
  where (select coalesce(sum(b.balance), 0) from token_balances b
         where b.organization_id = :org and b.asset_id = :asset and b.address = w.address)
      > (select coalesce(sum(t.amount), 0) from token_transfers t
         where t.asset_id = :asset and t.to_address = w.address and t.created_at >= :since)
      + (select coalesce(sum(t.amount), 0) from orders o join markets m on m.id = o.market_id join trades t
           on t.market_id = o.market_id and o.chain_order_id in (t.maker_chain_id, t.taker_chain_id)
         where m.asset_id = :asset and o.maker_address = w.address and o.side = 'buy' and t.created_at >= :since)
    and 1 = (select sum(change) from holder_changes where asset_id = :asset and address = w.address)
    and not exists (select from holder_changes where asset_id = :asset and address = w.address and day >= :day)
""")
"""Addresses that held something before a day, and ever since: they have more than they received from that day on. This
keeps a treasury from being added up from all its transfers each time that it sends one."""
_NOT_OF_ASSET = sa.text(
    "delete from holder_changes where asset_id = :asset and address = any(:addresses) returning day"
)
_NOT_OF_ANY = sa.text(
    "delete from any_holder_changes where organization_id = :org and address = any(:addresses) returning day"
)
_NO_DAYS = sa.text("delete from organization_days where organization_id = :org and day = any(cast(:days as date[]))")


async def write(
    session: db.Write, org: UUID, asset_id: UUID, addresses: Iterable[str], days: Iterable[date] = ()
) -> set[date]:
    """Write the changes of some addresses again, in an asset of an organization; return the days of those of the asset,
    before and after. `days` are those of the events that came or went, if they are known."""
    values = {"asset": asset_id, "org": org, "addresses": sorted(addresses), "zero": ZERO_ADDRESS}
    if (day := min(days, default=None)) is not None:
        since = {"day": day, "since": datetime.combine(day, time.min, UTC)}
        steady = set(await session.scalars(_STEADY, _only(values, "asset", "org") | since))
        values["addresses"] = sorted(set(addresses) - steady)
    if not values["addresses"]:
        return set()
    if not await session.scalar(_DIFFERS, _only(values, "asset", "zero")):
        return set()
    changed = set(await session.scalars(_NOT_OF_ASSET, _only(values, "asset")))
    changed |= set(await session.scalars(_OF_ASSET, _only(values, "asset", "zero")))
    days = set(await session.scalars(_NOT_OF_ANY, _only(values, "org")))
    days |= set(await session.scalars(_OF_ANY, _only(values, "org")))
    await session.execute(_NO_DAYS, {"org": org, "days": sorted(days)})
    await session.execute(_DAYS, {"org": org, "days": sorted(days)})
    return changed


def _only(values: dict[str, object], *names: str) -> dict[str, object]:
    return {name: values[name] for name in ("addresses", *names)}
