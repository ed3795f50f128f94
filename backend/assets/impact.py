"""The impact of an update: on holders, judged by this organization's own attestations, and on markets."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import chain_caps, holders, records, rules, service
from backend.assets.rules import Terms
from backend.assets.schemas import AssetImpact, AssetPlan, AssetUpdate, Holder, HolderImpact, MarketImpact
from backend.assets.terms import terms_of, token_rules
from backend.attestations.models import AttestationRow
from backend.attestations.schemas import AttestationStatus
from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.devnet import clock
from backend.chains import new_activity
from backend.chains import service as chains
from backend.compliance.rules import Account, Standing, failures, person

Standings = Mapping[tuple[int, str], Standing]
"""By chain and wallet, the content of this organization's attestations."""


async def plan(context: Context, asset_id: UUID, patch: AssetUpdate) -> AssetPlan:
    """Run every check of the update, and return what it would change. Nothing is written."""
    asset, after = await service.planned(context.session, context.organization_id, asset_id, patch)
    before = terms_of(asset)
    changes = rules.changes(before, after)
    rows = await records.deployments(context.session, asset_id)
    eids = records.sharing(rows)
    held = await holders.by_chain(context.session, context.organization_id, asset_id)
    old = {eid: token_rules(before, eids, eid, held) for eid in eids}
    new = {eid: token_rules(after, eids, eid, held) for eid in eids}
    owners = await holders.everyone(context.session, context.organization_id, asset_id)
    everyone = [h for h in owners if not h.is_treasury]
    known = await standings(context)
    names = await records.chain_names(context.session)
    to_set = [r.chain_eid for r in records.active(rows) if changes]
    await chains.check_network(context, *to_set)
    await new_activity.check(context, *to_set)
    steps = [f"Set the rules on {names[eid]}" for eid in to_set]
    if before.cap_shares and not after.cap_shares:
        steps.insert(0, "Replace the limits set for each chain by equal shares")
    impact = AssetImpact(
        caps=(await chain_caps.change(context.session, asset, after, eids)).effects if changes else [],
        changes=changes,
        holders_total=len(everyone),
        holders_excluded=_excluded(everyone, known, old, new),
        markets=await _markets(context, asset_id, before, after, known, new),
    )
    return AssetPlan(steps=[*steps, "Read them back"] if steps else ["No transaction is needed"], impact=impact)


async def standings(context: Context) -> Standings:
    """Return the content of the organization's valid attestations of each wallet on each chain."""
    query = sa.select(
        col(AttestationRow.chain_eid),
        col(AttestationRow.wallet_address),
        col(AttestationRow.kyc_level),
        col(AttestationRow.accredited),
        col(AttestationRow.country),
    ).where(
        col(AttestationRow.organization_id) == context.organization_id,
        col(AttestationRow.status) == AttestationStatus.ACTIVE,
        sa.or_(col(AttestationRow.expires_at).is_(None), col(AttestationRow.expires_at) > clock.chain_now()),
    )
    words: dict[tuple[int, str], list[Any]] = defaultdict(list)
    for row in await context.session.execute(query):
        words[row.chain_eid, row.wallet_address].append(row)
    return {key: together(rows) for key, rows in words.items()}


def together(rows: Sequence[Any]) -> Standing:
    """Combine several attestations into one standing."""
    accredited = [r.kyc_level for r in rows if r.accredited]
    return Standing(
        found=bool(rows),
        level=max((r.kyc_level for r in rows), default=0),
        accredited=bool(accredited),
        accredited_level=max(accredited, default=0),
        countries=tuple(r.country for r in rows),
    )


def holder_account(holder: Holder, known: Standings) -> Account:
    """Return a holder as the rules evaluate it."""
    standing = known.get((holder.chain_eid, holder.address), Standing())
    amount = int(holder.balance)
    return Account(holder.address, standing, standing, amount, amount, is_treasury=holder.is_treasury)


def _excluded(
    everyone: Sequence[Holder], known: Standings, old: Mapping[int, TokenRules], new: Mapping[int, TokenRules]
) -> list[HolderImpact]:
    """Return the holders who satisfy the current rules and violate the new ones. An account that was never attested
    here is not affected."""
    found = []
    for holder in everyone:
        account = holder_account(holder, known)
        had = {v.code for v in failures(person(old[holder.chain_eid], account))}
        lost = [v for v in failures(person(new[holder.chain_eid], account)) if v.code not in had]
        if lost:
            reasons = [v.reason for v in lost]
            found.append(
                HolderImpact(
                    wallet_address=holder.address, name=holder.party_name, balance=holder.balance, reasons=reasons
                )
            )
    return found


async def _markets(
    context: Context, asset_id: UUID, before: Terms, after: Terms, known: Standings, new: Mapping[int, TokenRules]
) -> list[MarketImpact]:
    query = sa.text("""
        select m.id, m.chain_eid, count(o.id) filter (where o.status in ('open', 'partial')) as open_orders
        from markets m left join orders o on o.market_id = m.id
        where m.asset_id = :asset and m.status in ('active', 'halted') group by m.id, m.chain_eid order by m.id
    """)
    rows = await context.session.execute(query, {"asset": asset_id})
    return [_market(r, before, after, known, new[r.chain_eid]) for r in rows]


def _market(row: Any, before: Terms, after: Terms, known: Standings, new: TokenRules) -> MarketImpact:
    """Return the impact on a market. It halts if only the treasury could sell, or no attested wallet could buy."""
    ends, ended = after.compliance_rules.lockup_end_time, before.compliance_rules.lockup_end_time
    people = [Account(address, s, s) for (eid, address), s in known.items() if eid == row.chain_eid]
    able = [a for a in people if not failures(person(new, a))]
    held = f"{row.open_orders} open order(s)."
    if ends > max(ended, clock.moment()):
        reason = f"Only the treasury can sell until the lock-up ends (Unix time {ends}). {held}"
        return MarketImpact(market_id=row.id, chain_eid=row.chain_eid, halts=True, reason=reason)
    if people and not able:
        reason = f"None of the {len(people)} attested wallets on this chain could buy. {held}"
        return MarketImpact(market_id=row.id, chain_eid=row.chain_eid, halts=True, reason=reason)
    reason = f"{len(able)} of {len(people)} attested wallets on this chain can buy. {held}"
    return MarketImpact(market_id=row.id, chain_eid=row.chain_eid, halts=False, reason=reason)
