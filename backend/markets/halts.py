"""Whether a market is halted, and why: derived from indexed events, for lists, pages and filters.

The token's pause, venues and rules come from the token's events, the owner's halt from the market's; time and
attestations add the rest. Evaluated after every pass of the indexer.
"""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.chain.bindings import market, token
from backend.chain.devnet import clock
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.core.changes import publish_status, shown
from backend.markets import rules
from backend.markets.models import MarketRow
from backend.markets.rules import Halting
from backend.markets.schemas import Market, MarketStatus

_FACTS = sa.text("""
    select m.id, m.status, m.halt_reason, m.is_halted, d.paused, m.market_address = any(d.venues) as settles,
        case when r.is_new and r.lockup > m.lockup_end_time then r.lockup else 0 end as lockup_end, w.attested, w.able
    from markets m
    join asset_deployments d on d.asset_id = m.asset_id and d.chain_eid = m.chain_eid
    left join lateral (
        select s.block_number > m.block_number as is_new, (s.rules ->> 'lockup_end_time')::bigint as lockup,
            (s.rules ->> 'min_kyc_level')::int as level, (s.rules ->> 'requires_accreditation')::bool as accredited,
            (s.rules ->> 'org_only')::bool as org_only, s.rules -> 'blocked_countries' as blocked,
            jsonb_array_length(s.rules -> 'trusted_issuers') > 0 as trusts_others
        from asset_rule_sets s where s.asset_id = m.asset_id and s.chain_eid = m.chain_eid
        order by s.block_number desc, s.log_index desc limit 1
    ) r on true
    left join lateral (
        select count(*) as attested, count(*) filter (where able) as able from (
            select bool_or(a.kyc_level >= r.level and (a.accredited or not r.accredited)
                    and (not r.org_only or a.organization_id = m.organization_id))
                and bool_or(a.kyc_level >= m.min_kyc_level and (a.accredited or not m.requires_accreditation)
                    and (not r.org_only or a.organization_id = m.organization_id))
                and not bool_or(r.blocked ? a.country or a.country = any(m.blocked_countries)) as able
            from attestations a
            -- Whom others attest is not ours to know.
            where r.is_new and not r.trusts_others and a.chain_eid = m.chain_eid and a.status = 'active'
                and (a.expires_at is null or a.expires_at > :now)
                and a.organization_id in (select p.id from signum_path(m.organization_id) p)
            group by a.wallet_address
        ) people
    ) w on true
    where m.chain_eid = :eid and m.status in ('active', 'halted')
""")


async def facts(session: AsyncSession, eid: int) -> dict[UUID, Halting]:
    """Return the facts in the tables that can halt each market of a chain. For the worker's role, which sees all
    attestations."""
    return {row.id: _halting(row) for row in await _rows(session, eid)}


async def refresh(session: db.Write, eid: int) -> None:
    """Set every market of a chain to active or halted, with the reason."""
    now = clock.moment()
    for row in await _rows(session, eid):
        reason = rules.halting(_halting(row), now)
        status = MarketStatus.ACTIVE if reason is None else MarketStatus.HALTED
        if (row.status, row.halt_reason) != (status, reason):
            await _set(session, row.id, status, reason)


async def differs(session: AsyncSession, row: Any) -> bool:
    """Return whether the chain currently differs from the tables: the owner's halt, the pause, the venue."""
    query = sa.text("""
        select m.is_halted, d.paused, m.market_address = any(d.venues) as settles from markets m
        join asset_deployments d on d.asset_id = m.asset_id and d.chain_eid = m.chain_eid where m.id = :id
    """)
    known = (await session.execute(query, {"id": row.id})).one()
    async with db.paused(session):
        return tuple(known) != await on_chain(row)


async def on_chain(row: Any) -> tuple[bool, bool, bool]:
    """Return whether a market is halted by its owner, its token is paused, and it may settle; one round trip."""
    reads = [
        (market.NAME, row.market_address, "halted"),
        (token.NAME, row.rwa_token_address, "paused"),
        (token.NAME, row.rwa_token_address, "isVenue", row.market_address),
    ]
    halted, paused, settles = await (await connect(row.chain_eid)).read_many(reads)
    return halted, paused, settles


async def _rows(session: AsyncSession, eid: int) -> list[Any]:
    return list(await session.execute(_FACTS, {"eid": eid, "now": clock.chain_now()}))


def _halting(row: Any) -> Halting:
    return Halting(row.is_halted, row.paused, row.settles, row.lockup_end or 0, row.attested or 0, row.able or 0)


async def _set(session: db.Write, market_id: UUID, status: MarketStatus, reason: str | None) -> None:
    row = await session.get_one(MarketRow, market_id, with_for_update=True)
    if row.status not in rules.LIVE:
        return
    before = shown(Market, row)
    row.status, row.halt_reason = status, reason
    await session.flush()
    await publish_status(session, "market", Market, row, before)
