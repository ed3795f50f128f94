"""Reads an asset's activity: requests, transfers, orders, trades, rule changes and distributions by time.

The tables are read by name, because each belongs to another vertical.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.activity import rules
from backend.activity.schemas import Activity, ActivityKind, ActivityList
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.chain_models import ChainRow
from backend.core.pagination import where_given
from backend.lists.pages import Listing, Page
from backend.requests import titles
from backend.users.models import UserRow
from backend.wallets import known_names

_ENTRIES = sa.text("""
  select r.id, 'operation' as kind, r.created_at, r.title as name, r.kind as code, cast(r.status as text) as status,
    cast(null as bigint) as chain_eid, cast(null as text) as tx_hash, cast(null as uuid) as market_id,
    r.id as request_id, r.created_by, cast(null as text) as side, cast(null as numeric) as amount,
    cast(null as numeric) as price, cast(null as text) as actor, cast(null as text) as receiver
  from requests r
  where r.organization_id = :org and r.subject_type not in ('order', 'transfer') and (
    r.subject_id = :asset
    or r.subject_id in (select id from markets where organization_id = :org and asset_id = :asset)
    or r.subject_id in (select id from bridges where organization_id = :org and asset_id = :asset)
    or r.subject_id in (select id from distributions where organization_id = :org and asset_id = :asset)
  )
  union all
  select t.id, 'transfer', t.created_at, null, null, cast(t.status as text), t.chain_eid, t.tx_hash, null,
    t.request_id, null, null, t.amount, null, t.from_address, t.to_address
  from transfers t where t.organization_id = :org and t.asset_id = :asset
  union all
  select o.id, 'order', o.created_at, m.quote_symbol, cast(m.quote_decimals as text), cast(o.status as text),
    m.chain_eid, o.tx_hash, m.id, o.request_id, null, cast(o.side as text), o.amount, o.price, o.maker_address, null
  from orders o join markets m on m.id = o.market_id where m.organization_id = :org and m.asset_id = :asset
  union all
  select t.id, 'trade', t.created_at, m.quote_symbol, cast(m.quote_decimals as text), null, m.chain_eid, t.tx_hash,
    m.id, null, null, null, t.amount, t.price, null, null
  from trades t join markets m on m.id = t.market_id where m.organization_id = :org and m.asset_id = :asset
  union all
  select s.id, 'rules', s.created_at, cast(s.version as text), null, null, s.chain_eid, s.tx_hash, null, null, null,
    null, null, null, null, null
  from asset_rule_sets s where s.organization_id = :org and s.asset_id = :asset
  union all
  select d.id, 'distribution', d.created_at, d.name, null, cast(d.status as text), d.chain_eid, null, null, null, null,
    null, d.total_amount, null, null, null
  from distributions d where d.organization_id = :org and d.asset_id = :asset
""").columns(
    id=sa.Uuid, kind=sa.Text, created_at=sa.DateTime(timezone=True), name=sa.Text, code=sa.Text, status=sa.Text,
    chain_eid=sa.BigInteger, tx_hash=sa.Text, market_id=sa.Uuid, request_id=sa.Uuid, created_by=sa.Uuid, side=sa.Text,
    amount=sa.Numeric, price=sa.Numeric, actor=sa.Text, receiver=sa.Text,
)  # fmt: skip
ENTRIES = _ENTRIES.subquery("entries")
"""`name` and `code` depend on the kind: the title and kind of a request, the quote currency of an order or trade."""
LIST = Listing(
    {"created_at": ENTRIES.c.created_at},
    tie=ENTRIES.c.id,
    names=(ENTRIES.c.name,),
    codes=(ENTRIES.c.id, ENTRIES.c.tx_hash, ENTRIES.c.actor, ENTRIES.c.receiver),
    is_fixed=True,
)


async def page(context: Context, page: Page, asset: Any, kind: ActivityKind | None) -> ActivityList:
    """Return a page of an asset's activity, newest first."""
    shown, paging = await page.read(context.session, _query(context, page, asset.id, kind))
    addresses = {address for row in shown for address in (row.actor, row.receiver) if address}
    known = await known_names.known(context.session, context.organization_id, sorted(addresses))
    names = {address: one.name for address, one in known.items()}
    return ActivityList(activity=_activity(context, shown, asset, names), **paging)


def _query(context: Context, page: Page, asset_id: UUID, kind: ActivityKind | None) -> sa.Select[Any]:
    """Return the entries that the caller may read. `q` searches no title that the caller may not read."""
    person = sa.func.coalesce(col(UserRow.display_name), col(UserRow.email)).label("person")
    query = (
        sa.select(ENTRIES, person, col(ChainRow.display_name).label("chain_name"))
        .outerjoin(UserRow, col(UserRow.id) == ENTRIES.c.created_by)
        .outerjoin(ChainRow, col(ChainRow.xchain_eid) == ENTRIES.c.chain_eid)
        .params(org=context.organization_id, asset=asset_id)
    )
    if not {Scope.TRANSFERS_READ, Scope.TRANSFERS_WRITE} & set(context.scopes):
        query = query.where(ENTRIES.c.kind != ActivityKind.TRANSFER)
    if page.q:
        query = query.where(sa.or_(ENTRIES.c.kind != ActivityKind.OPERATION, titles.readable(context, ENTRIES.c.code)))
    return where_given(query, (ENTRIES.c.kind, kind))


def _activity(context: Context, rows: Sequence[Any], asset: Any, names: Mapping[str, str | None]) -> list[Activity]:
    return [
        Activity(
            **{**row._mapping, "kind": ActivityKind(row.kind)},
            title=titles.title_of(context.scopes, row.code, row.name)
            if row.kind == ActivityKind.OPERATION
            else rules.title(row, asset.symbol, asset.decimals, names),
            actor_name=(row.person if Scope.ORGS_READ in context.scopes else None) or names.get(row.actor),
        )
        for row in rows
    ]
