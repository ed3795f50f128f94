"""Queries of accounts: which addresses match, most likely first.

The tables are read by name, because an account may come from any of them.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.auth.scopes import Scope

FEW, MOST = 20, 100
"""Accounts of an answer, unless asked for more; at most."""
FIELDS = ["address", "to_address", "from_address", "lost_address", "new_address"]
"""Arguments of requests that are accounts."""
_FOUND = sa.text("""
  with mine as (
    select subject_type, subject_id, arguments, created_at from requests
    where organization_id = :org and created_by = :person order by created_at desc limit 200
  ),
  recent as (
    select used.address, max(mine.created_at) as last_used_at
    from mine cross join lateral (
      select value as address from jsonb_each_text(mine.arguments)
      where key = any(cast(:fields as text[])) and value like '0x%' and cast(:market as uuid) is null
      union all
      select unnest(array[t.from_address, t.to_address]) from transfers t
      where mine.subject_type = 'transfer' and t.id = mine.subject_id and cast(:market as uuid) is null
      union all
      select o.maker_address from orders o
      where mine.subject_type = 'order' and o.id = mine.subject_id
        and (cast(:market as uuid) is null or o.market_id = cast(:market as uuid))
    ) used group by used.address
  ),
  held as (
    select address, balance from token_balances
    where asset_id = cast(:asset as uuid) and chain_eid = cast(:eid as bigint) and balance > 0
      and address <> '0x0000000000000000000000000000000000000000' and address not in (
        select market_address from markets where asset_id = cast(:asset as uuid) and market_address is not null)
  ),
  known as (
    select address from wallets where organization_id = :org and (kind = 'server' or not :signing)
    union
    select wallet_address from parties
    where organization_id = :org and wallet_address is not null and :parties and not :signing
    union
    select address from held where not :signing
    union
    select address from recent where not :signing
  )
  select k.address, w.id as wallet_id, w.label, p.id as party_id, p.name as party, r.last_used_at,
    coalesce(w.is_default, false) as is_treasury, trunc(coalesce(h.balance, 0)) as balance
  from known k
  left join wallets w on w.organization_id = :org and w.address = k.address
  left join parties p on p.organization_id = :org and p.wallet_address = k.address and :parties
  left join held h on h.address = k.address
  left join recent r on r.address = k.address
  where (not :unassigned or (w.id is not null and not w.is_default and not exists (
      select from parties o where o.organization_id = :org and o.wallet_address = k.address
    ))) and (:words = '' or starts_with(lower(k.address), lower(:words))
    or strpos(lower(concat_ws(chr(31), p.name, p.email, w.label)), lower(:words)) > 0)
  order by r.last_used_at desc nulls last, starts_with(lower(coalesce(p.name, w.label, '')), lower(:words)) desc,
    coalesce(h.balance, 0) desc, lower(coalesce(p.name, w.label)) nulls last, k.address
  limit :most
""")


@dataclass(frozen=True)
class Wanted:
    """What to find: a text, for an asset on a chain, and for a market there. `is_signing`: only server wallets, which
    can sign. `is_unassigned`: only the organization's wallets that are no party's and not the treasury. `most`: how
    many accounts an answer has."""

    words: str = ""
    asset_id: UUID | None = None
    eid: int | None = None
    market_id: UUID | None = None
    is_signing: bool = False
    is_unassigned: bool = False
    most: int = FEW


async def found(context: Context, wanted: Wanted) -> list[Any]:
    """Return the matching accounts, and one more than an answer has if there are others."""
    values = {
        "org": context.organization_id,
        "person": context.person.user_id if context.person else None,
        "words": wanted.words,
        "asset": wanted.asset_id,
        "eid": wanted.eid,
        "market": wanted.market_id,
        "signing": wanted.is_signing,
        "unassigned": wanted.is_unassigned,
        "parties": Scope.ATTESTATIONS_READ in context.scopes,
        "fields": FIELDS,
        "most": wanted.most + 1,
    }
    return list(await context.session.execute(_FOUND, values))
