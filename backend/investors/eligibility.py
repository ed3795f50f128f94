"""Whether the investor's addresses may hold the organization's assets: the decision of `compliance.rules.person`."""

from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from backend.assets import records
from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.devnet import clock
from backend.compliance import standings
from backend.compliance.rules import failures, person
from backend.compliance.standings import Wanted
from backend.investors import holdings, profile
from backend.investors.rules import Attested, valid_until
from backend.investors.schemas import InvestorEligibilities, InvestorEligibility, RefusedRule

_PLACES = sa.text("""
  with shown as (
    select id, name, symbol, id = any(:held) as is_first from assets
    where organization_id = :org and (status in ('active', 'updating') or id = any(:held))
    order by is_first desc, lower(symbol), id limit 100
  )
  select a.id as asset_id, a.name, a.symbol, d.chain_eid, d.applied_rules
  from shown a join asset_deployments d on d.asset_id = a.id
  where d.status = 'active' and d.applied_rules <> '{}'
  order by a.is_first desc, lower(a.symbol), a.id, d.created_at, d.id
""")
_ATTESTED = sa.text("""
  select chain_eid, wallet_address, kyc_level, accredited, expires_at from attestations
  where organization_id = :org and wallet_address = any(:own) and status = 'active'
    and (expires_at is null or expires_at > :now)
""")
_LAPSED = sa.text("""
  select distinct on (chain_eid, wallet_address) chain_eid, wallet_address,
    case when status = 'revoked' then 'revoked' else 'expired' end as lapse,
    case when status = 'revoked' then updated_at else expires_at end as at
  from attestations
  where organization_id = :org and wallet_address = any(:own)
    and (status in ('revoked', 'expired') or status = 'active' and expires_at <= :now)
  order by chain_eid, wallet_address, created_at desc, id desc
""")


async def of(context: Context) -> InvestorEligibilities:
    """Return the eligibility of each address, per asset and chain, as the chains say now."""
    own = await profile.addresses(context)
    held = await holdings.held(context, own)
    values = {"org": context.organization_id, "held": list({asset for asset, _, _ in held})}
    places = [(row, TokenRules.from_dict(row.applied_rules)) for row in await context.session.execute(_PLACES, values)]
    chains = await records.chain_names(context.session)
    attested, lapsed = await _attested(context, own), await _lapsed(context, own)
    known = await standings.read(context, _wanted(places, own))
    shown = []
    for row, rules in places:
        for address in own:
            holding = held.get((row.asset_id, row.chain_eid, address), 0)
            account = known.account(row.chain_eid, address, rules, holding=holding)
            refused = failures(person(rules, account))
            standing = account.own_standing if rules.org_only else account.standing
            here = attested[row.chain_eid, address]
            ended = None if here else lapsed.get((row.chain_eid, address))
            shown.append(
                InvestorEligibility(
                    asset_id=row.asset_id,
                    name=row.name,
                    symbol=row.symbol,
                    chain_eid=row.chain_eid,
                    chain_name=chains.get(row.chain_eid, str(row.chain_eid)),
                    address=address,
                    eligible=not refused,
                    is_held=holding > 0,
                    is_attested_here=bool(here),
                    kyc_level=standing.level,
                    required_kyc_level=rules.min_kyc_level,
                    requires_accreditation=rules.requires_accreditation,
                    valid_until=valid_until(here, rules.min_kyc_level, rules.requires_accreditation),
                    lapse=ended.lapse if ended else None,
                    lapsed_at=ended.at if ended else None,
                    refusals=[RefusedRule(rule=v.rule, code=v.code, reason=v.reason) for v in refused],
                )
            )
    return InvestorEligibilities(eligibility=shown)


def _wanted(places: list[tuple[Any, TokenRules]], own: list[str]) -> dict[int, Wanted]:
    by_chain: dict[int, list[TokenRules]] = defaultdict(list)
    for row, rules in places:
        by_chain[row.chain_eid].append(rules)
    return {eid: Wanted(own, rules) for eid, rules in by_chain.items()} if own else {}


async def _attested(context: Context, own: list[str]) -> dict[tuple[int, str], list[Attested]]:
    """Return the valid attestations of this organization by chain and address."""
    values = {"org": context.organization_id, "own": own, "now": clock.chain_now()}
    found: dict[tuple[int, str], list[Attested]] = defaultdict(list)
    for row in await context.session.execute(_ATTESTED, values):
        found[row.chain_eid, row.wallet_address].append(Attested(row.kyc_level, row.accredited, row.expires_at))
    return found


async def _lapsed(context: Context, own: list[str]) -> dict[tuple[int, str], Any]:
    """Return how and when the last attestation of this organization ended, by chain and address."""
    values = {"org": context.organization_id, "own": own, "now": clock.chain_now()}
    rows = await context.session.execute(_LAPSED, values)
    return {(row.chain_eid, row.wallet_address): row for row in rows}
