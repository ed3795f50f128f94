"""What the tables say about an asset's holders, open orders, unclaimed amounts and markets.

Markets, orders and distributions are read by table name: they are above assets, which must not import them.
"""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.assets import holders
from backend.compliance.impact_case import Facts

FEW = 2_000
"""Unclaimed recipients up to this number are all judged; of more, those with an attestation of this organization. A
recipient without one cannot claim before the change either."""
_MARKETS = """
    select m.id, m.chain_eid, m.market_address, m.regulation_type, m.min_kyc_level, m.requires_accreditation,
        m.blocked_countries, m.lockup_end_time, m.max_holders, m.max_tokens_per_holder from markets m
    where m.asset_id = :asset and m.status in ('active', 'halted') order by m.id
"""
_ORDERS = """
    select o.id, o.market_id, m.chain_eid, o.chain_order_id, o.side, o.maker_address, o.amount - o.filled as rest,
        o.price from orders o join markets m on m.id = o.market_id
    where m.asset_id = :asset and o.status in ('open', 'partial') and o.chain_order_id is not null
    order by o.created_at, o.id
"""
_CLAIMS = """
    select d.id, d.name, d.chain_eid, r.address, r.amount from distributions d
    join distribution_recipients r on r.distribution_id = d.id
    where d.asset_id = :asset and d.status = 'active' and d.currency_address is null and not exists (
      select 1 from distribution_claims c where c.distribution_id = d.id and c.index = r.index)
"""
_OPEN_CLAIMS = """
    select coalesce(sum(total_recipients - claimed_recipients), 0) from distributions
    where asset_id = :asset and status = 'active' and has_recipients and currency_address is null
"""
_ATTESTED = """ and exists (
    select 1 from attestations a where a.organization_id = d.organization_id and a.chain_eid = d.chain_eid
      and a.wallet_address = r.address and a.status = 'active')
"""


async def facts(session: AsyncSession, organization_id: UUID, asset_id: UUID) -> Facts:
    """Return what the tables say about the asset."""
    values = {"asset": asset_id}
    everyone = await holders.everyone(session, organization_id, asset_id)
    few = await session.scalar(sa.text(_OPEN_CLAIMS), values) <= FEW
    return Facts(
        holders=[h for h in everyone if not h.is_treasury],
        orders=list(await session.execute(sa.text(_ORDERS), values)),
        claims=list(await session.execute(sa.text(_CLAIMS if few else _CLAIMS + _ATTESTED), values)),
        markets={row.id: row for row in await session.execute(sa.text(_MARKETS), values)},
        treasuries=await treasuries(session, organization_id),
        holding={(h.chain_eid, h.address): int(h.balance) for h in everyone},
    )


async def distributors(session: AsyncSession, asset_id: UUID) -> frozenset[str]:
    """Return the addresses of the asset's distributions."""
    query = sa.text("select distributor_address from distributions where asset_id = :asset")
    return frozenset(address for address in await session.scalars(query, {"asset": asset_id}) if address)


async def treasuries(session: AsyncSession, organization_id: UUID) -> frozenset[str]:
    """Return the addresses of the organization's treasuries, to which the rules do not apply."""
    query = sa.text("select address from wallets where organization_id = :org and is_default")
    return frozenset(await session.scalars(query, {"org": organization_id}))
