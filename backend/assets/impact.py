"""The impact of an update: on holders, open orders, claims and markets."""

from uuid import UUID

from backend.assets import chain_caps, effects, holders, order_cancellations, records, rules, service
from backend.assets.schemas import AssetImpact, AssetPlan, AssetUpdate, HolderImpact, OpenOrders
from backend.assets.terms import terms_of, token_rules
from backend.auth.principal import Context
from backend.chains import new_activity
from backend.chains import service as chains
from backend.compliance.impact_case import Change
from backend.compliance.impact_schemas import HolderEffect


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
    names = await records.chain_names(context.session)
    to_set = [r.chain_eid for r in records.active(rows) if changes]
    await chains.check_network(context, *to_set)
    await new_activity.check(context, *to_set)
    steps = [f"Set the rules on {names[eid]}" for eid in to_set]
    if patch.orders is OpenOrders.CANCEL:
        traded = await order_cancellations.chains(context.session, asset_id)
        steps += [f"Cancel the orders of ineligible holders on {names[eid]}" for eid in eids if eid in traded]
    found = await effects.effects(context, asset_id, Change(old, new))
    if before.cap_shares and not after.cap_shares:
        steps.insert(0, "Replace the limits set for each chain by equal shares")
    impact = AssetImpact(
        caps=(await chain_caps.change(context.session, asset, after, eids)).effects if changes else [],
        changes=changes,
        holders_total=found.holders_total,
        holders_excluded=[_excluded(holder) for holder in found.holders_excluded],
        markets=found.markets,
        effects=found,
    )
    return AssetPlan(steps=[*steps, "Read them back"] if steps else ["No transaction is needed"], impact=impact)


def _excluded(holder: HolderEffect) -> HolderImpact:
    return HolderImpact(
        wallet_address=holder.wallet_address, name=holder.name, balance=holder.balance, reasons=holder.reasons
    )
