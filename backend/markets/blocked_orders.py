"""Open orders that cannot be filled because their makers are ineligible: marked with the reason, until the makers are
eligible again or the orders end.

Evaluated from the tables after every pass of the indexer, because rules, attestations and time change it; limits on
holdings are not evaluated. What the tables cannot know is not marked: a maker without an attestation of the
organization or one above it was attested elsewhere, and what such issuers say about level and accreditation is unknown
too if the token trusts any.
"""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.devnet import clock
from backend.compliance import affected, rules
from backend.compliance.affected import reasons
from backend.compliance.impact_case import market_rules
from backend.compliance.rules import Account
from backend.compliance.standings import together
from backend.core import db
from backend.core.recorded_time import recorded_now

_MAKERS = sa.text("""
    select m.id as market_id, o.maker_address, o.side, m.regulation_type, m.min_kyc_level, m.requires_accreditation,
        m.blocked_countries, m.lockup_end_time, m.max_holders, m.max_tokens_per_holder, r.rules,
        array_agg(distinct coalesce(o.blocked_reason, '')) as marked,
        coalesce(bool_or(w.is_default), false) as treasury,
        (select jsonb_agg(jsonb_build_object('kyc_level', a.kyc_level, 'accredited', a.accredited,
            'country', a.country, 'is_own', a.organization_id = m.organization_id,
            'is_valid', a.status = 'active' and (a.expires_at is null or a.expires_at > :now)))
          from attestations a where a.wallet_address = o.maker_address and a.chain_eid = m.chain_eid
            and a.status in ('active', 'expired', 'revoked')
            and a.organization_id in (select p.id from signum_path(m.organization_id) p)) as attestations
    from markets m
    join orders o on o.market_id = m.id and o.status in ('open', 'partial')
    join lateral (
        select s.rules from asset_rule_sets s where s.asset_id = m.asset_id and s.chain_eid = m.chain_eid
        order by s.block_number desc, s.log_index desc limit 1
    ) r on true
    left join wallets w on w.organization_id = m.organization_id and w.address = o.maker_address
    where m.chain_eid = :eid and m.status in ('active', 'halted')
    group by m.id, o.maker_address, o.side, r.rules
""")
_MARK = sa.text("""
    update orders set blocked_reason = :reason, updated_at = :at
    where market_id = :market and maker_address = :maker and side = :side and status in ('open', 'partial')
      and blocked_reason is distinct from :reason
""")
ALWAYS_KNOWN = {
    rules.LOCKUP,
    rules.MARKET_LOCKUP,
    rules.SENDER_COUNTRY_BLOCKED,
    rules.RECEIVER_COUNTRY_BLOCKED,
    rules.MARKET_COUNTRY_BLOCKED,
}
"""Rules that a further attestation by anyone does not satisfy."""


@dataclass(frozen=True, slots=True)
class Attestation:
    """An attestation in the tables."""

    kyc_level: int
    accredited: bool
    country: str
    is_own: bool
    is_valid: bool


async def refresh(session: db.Write, eid: int) -> None:
    """Mark the blocked orders of a chain with the reason, and remove the mark of the others."""
    values = {"eid": eid, "now": clock.chain_now()}
    for row in await session.execute(_MAKERS, values):
        reason = blocked(row)
        if row.marked != [reason or ""]:
            which = {"market": row.market_id, "maker": row.maker_address, "side": row.side}
            await session.execute(_MARK, {**which, "reason": reason, "at": recorded_now()})


def blocked(row: Any) -> str | None:
    """Return why a maker's orders on one side of a market cannot be filled; None if they can, as far as the tables
    know."""
    on_token, known = TokenRules.from_dict(row.rules), row.attestations or []
    valid = [one for one in (Attestation(**each) for each in known) if one.is_valid]
    standing, own = together(valid), together([one for one in valid if one.is_own])
    maker = Account(row.maker_address, standing, own, is_treasury=row.treasury)
    found = affected.order_failures(on_token, market_rules(row), maker, row.side == "buy", clock.moment())
    if on_token.trusted_issuers or not known:
        found = [verdict for verdict in found if verdict.code in ALWAYS_KNOWN]
    return " ".join(reasons(found)) or None
