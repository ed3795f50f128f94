"""The shares of an asset's caps: those in force on each chain, and those that an operation would set."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from backend.assets import holders, records
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.rules import Held, Terms
from backend.assets.terms import share_of, terms_of, token_rules
from backend.auth.principal import Context
from backend.caps import rules as cap_rules
from backend.caps.changes import Change
from backend.caps.schemas import AssetCaps, CapRule, CapShare, ChainCaps
from backend.core.errors import Conflict


async def change(session: AsyncSession, asset: AssetRow, terms: Terms, chains: Sequence[int]) -> Change:
    """Return the shares of the caps under `terms`, where `chains` share them, oldest first."""
    rows = records.active(await records.deployments(session, asset.id))
    there = await holders.by_chain(session, asset.organization_id, asset.id)
    names = await records.chain_names(session)
    before = {row.chain_eid: _in_force(row) for row in rows}
    after = {eid: share_of(token_rules(terms, chains, eid, there), eid) for eid in chains}
    named = {eid: names[eid] for eid in chains}
    return Change(after, cap_rules.effects(named, before, after, there.used, terms.caps))


async def current(context: Context, asset_id: UUID) -> AssetCaps:
    """Return the caps of an asset, and the share that each chain enforces and uses."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    rows = await records.deployments(context.session, asset_id)
    chains, terms = records.sharing(rows), terms_of(asset)
    there = await holders.by_chain(context.session, context.organization_id, asset_id)
    names = await records.chain_names(context.session)
    in_force = {row.chain_eid: _in_force(row) for row in records.active(rows)}
    return AssetCaps(
        max_holders=terms.caps[CapRule.MAX_HOLDERS],
        max_tokens_per_holder=str(terms.caps[CapRule.MAX_TOKENS]),
        is_set_by_hand=bool(cap_rules.set_by_hand(terms.caps, terms.cap_shares, chains, there.used)),
        in_step=_is_in_step(terms, chains, there, in_force),
        chains=[_chain_caps(eid, names[eid], in_force.get(eid), there) for eid in chains],
    )


def _chain_caps(eid: int, name: str, share: CapShare | None, there: Held) -> ChainCaps:
    return ChainCaps(
        chain_eid=eid,
        chain_name=name,
        max_holders=share.max_holders if share else None,
        max_tokens_per_holder=share.max_tokens_per_holder if share else None,
        holders=there.holders.get(eid, 0),
        largest_holding=str(there.largest.get(eid, 0)),
    )


def _is_in_step(terms: Terms, chains: Sequence[int], there: Held, in_force: Mapping[int, CapShare]) -> bool:
    try:
        return all(share_of(token_rules(terms, chains, eid, there), eid) == in_force.get(eid) for eid in chains)
    except Conflict:  # the caps cannot be shared among these chains
        return False


def _in_force(row: DeploymentRow) -> CapShare:
    """Return the share that a chain has confirmed."""
    given = {rule: row.applied_rules[rule] for rule in CapRule if rule in row.applied_rules}
    return CapShare(chain_eid=row.chain_eid, **given)
