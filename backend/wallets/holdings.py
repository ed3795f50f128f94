"""What the wallets of a page have of the organization's assets, from indexed events: no chain is read for a list."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.wallets.schemas import Holding

_HELD = sa.text("""
  select b.address, b.asset_id, a.symbol, a.decimals, sum(b.balance) as amount
  from token_balances b join assets a on a.id = b.asset_id
  where b.organization_id = :org and b.address = any(cast(:addresses as text[]))
  group by b.address, b.asset_id, a.symbol, a.decimals
  having sum(b.balance) > 0
  order by a.symbol
""")
"""Balances and assets are read by table name: they are above wallets, which must not import them."""


async def of_addresses(
    session: AsyncSession, organization_id: UUID, addresses: Sequence[str]
) -> dict[str, list[Holding]]:
    """Return by address what it has of each asset, ordered by symbol; addresses without tokens have an empty list."""
    held: dict[str, list[Holding]] = defaultdict(list)
    for row in await session.execute(_HELD, {"org": organization_id, "addresses": list(addresses)}):
        held[row.address].append(
            Holding(asset_id=row.asset_id, symbol=row.symbol, decimals=row.decimals, amount=str(int(row.amount)))
        )
    return held
