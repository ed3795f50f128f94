"""What the requests of a page did: their chain, their last transaction, and who approved them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

_FACTS = sa.text("""
  select r.id, s.chain_eid, c.display_name as chain_name, s.tx_hash, coalesce(u.display_name, u.email) as approver
  from requests r
    left join lateral (
      select case when count(distinct chain_eid) = 1 then max(chain_eid) end as chain_eid,
        case when count(distinct chain_eid) = 1
          then (array_agg(tx_hash order by position desc) filter (where tx_hash is not null))[1] end as tx_hash
      from request_steps where request_id = r.id
    ) s on true
    left join chains c on c.xchain_eid = s.chain_eid
    left join approvals a on a.request_id = r.id and cast(a.status as text) = 'approved'
    left join users u on u.id = a.decided_by
  where r.id = any(:ids)
""")


async def of(session: AsyncSession, ids: Sequence[UUID]) -> dict[UUID, Any]:
    """Return `chain_eid`, `chain_name` and `tx_hash` of requests on one chain, and `approver` of all; empty without
    requests."""
    if not ids:
        return {}
    rows = (await session.execute(_FACTS, {"ids": list(ids)})).all()
    return {row.id: row for row in rows}
