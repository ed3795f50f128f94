"""Creation of distributions: recipients from their source, their eligibility, and the tree of those who are paid."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from backend.assets import records
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.core.db import Write
from backend.core.errors import BadRequest
from backend.distributions import currencies, eligibility, held, proofs, rules, service, snapshot, states
from backend.distributions.eligibility import Checked
from backend.distributions.merkle import MerkleTree
from backend.distributions.models import DistributionRow
from backend.distributions.recipients import Recipients
from backend.distributions.schemas import BlockedRecipients, DistributionCreate, DistributionPlan, PaidIn
from backend.organizations import quotas


@dataclass(frozen=True)
class Draft:
    """A distribution that passed every check of its creation. Without recipients, it has no tree. `held` are positions
    in the list of `checked`, which is None if eligibility does not matter. `released` are indices of recipients who
    are held in the distribution that it releases."""

    row: DistributionRow
    recipients: Recipients | None = None
    tree: MerkleTree | None = None
    checked: Checked | None = None
    held: Sequence[int] = ()
    released: Sequence[int] = ()


async def draft(
    context: Context, asset_id: UUID, body: DistributionCreate, recipients: Recipients | None, *, is_dry_run: bool
) -> Draft:
    """Run every check, and build the tree; nothing is written."""
    place = await service.distributable(context, asset_id, body.chain_eid)
    if body.holders is not None:
        recipients = await snapshot.recipients(context, asset_id, place, body.holders)
    row = DistributionRow(
        organization_id=context.organization_id,
        asset_id=asset_id,
        name=body.name,
        chain_eid=body.chain_eid,
        total_amount=int(body.total_amount or 0),
        held_of=body.held_of,
    )
    if body.currency is PaidIn.QUOTE and body.held_of is None:
        (await currencies.quote_currency(context, body.chain_eid)).write(row)
    if body.held_of is not None:
        return await _release(context, place, row, body.held_of)
    if recipients is None:
        return Draft(row)
    blocked, pays_asset = body.blocked, row.currency_address is None
    if blocked is BlockedRecipients.INCLUDE and not pays_asset and not is_dry_run:
        blocked = BlockedRecipients.REFUSE
    is_checked = is_dry_run or blocked is not BlockedRecipients.INCLUDE
    checked = (
        await eligibility.check(context, asset_id, place, recipients, pays_asset=pays_asset) if is_checked else None
    )
    paid, on_hold = eligibility.chosen(checked, recipients, blocked)
    row.held_recipients = len(on_hold)
    row.excluded_recipients = len(recipients.amounts) - len(paid.amounts) - len(on_hold)
    return await _drawn(context, Draft(row, paid, checked=checked, held=on_hold))


async def decimals(context: Context, asset_id: UUID, body: DistributionCreate) -> int:
    """Return the decimals of what is paid out; 404 without the asset."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    if body.currency is PaidIn.ASSET:
        return asset.decimals
    return (await currencies.quote_currency(context, body.chain_eid)).decimals


async def _release(context: Context, place: Place, row: DistributionRow, source: UUID) -> Draft:
    """Return a draft that pays those recipients, held in another distribution, who are eligible now."""
    earlier = await _source(context, row.asset_id, source, row.chain_eid)
    for name in ("currency_address", "currency_symbol", "currency_decimals"):
        setattr(row, name, getattr(earlier, name))
    waiting, pays_asset = await held.waiting(context, earlier), row.currency_address is None
    checked = await eligibility.check(context, row.asset_id, place, waiting.recipients, pays_asset=pays_asset)
    eligible, _ = eligibility.chosen(checked, waiting.recipients, BlockedRecipients.EXCLUDE)
    still = set(checked.blocked)
    released = [index for position, index in enumerate(waiting.indices) if position not in still]
    return await _drawn(context, Draft(row, eligible, checked=checked, released=released))


async def _source(
    context: Context, asset_id: UUID, distribution_id: UUID, eid: int, *, lock: bool = False
) -> DistributionRow:
    """Return a distribution whose held recipients can be released on a chain; 400, 404 or 409 if they cannot."""
    source = await service.distribution(context, asset_id, distribution_id, lock=lock)
    if source.chain_eid != eid:
        raise BadRequest("The recipients are held on another chain. Send its chain_eid.", pointer="/chain_eid")
    rules.check_releases(source.status)
    return source


async def _drawn(context: Context, draft: Draft) -> Draft:
    """Return a draft of recipients with their tree."""
    row, paid = draft.row, draft.recipients
    assert paid is not None
    tree = await service.computed(context, MerkleTree, paid.addresses, paid.amounts)
    row.merkle_root, row.total_recipients, row.total_amount = tree.root, len(paid.amounts), paid.total
    row.has_recipients = True
    await quotas.check_recipients(context.session, context.organization_id, row.total_recipients + row.held_recipients)
    return replace(draft, tree=tree)


async def create(context: Context, drawn: Draft) -> UUID:
    """Write a draft with its recipients and their tree, so that every proof is available immediately; return its ID.

    Recipients that were stored concurrently are counted last: others wait for the commit only.
    """
    row, session, paid = drawn.row, context.session, drawn.recipients
    if row.held_of is not None:
        # Before the row refers to the source, so that two releases of it wait for each other.
        await _source(context, row.asset_id, row.held_of, row.chain_eid, lock=True)
    if paid is not None:
        await quotas.count_recipients(session, context.organization_id, len(paid.amounts) + len(drawn.held))
    session.add(row)
    await session.flush()
    await _store(session, drawn)
    await states.created(session, row)
    if row.has_recipients:
        await quotas.queue_recipients(session, context.organization_id)
        await quotas.check_recipients(session, context.organization_id)
    return row.id


async def _store(session: Write, drawn: Draft) -> None:
    if drawn.recipients is not None and drawn.tree is not None:
        await proofs.store(session, drawn.row, drawn.recipients, drawn.tree)
    if drawn.checked is not None:
        await held.store(session, drawn.row, drawn.checked, drawn.held)
    if drawn.row.held_of is not None:
        await held.release(session, drawn.row.held_of, drawn.row, drawn.released)


async def plan(context: Context, drawn: Draft) -> DistributionPlan:
    """Return the plan of a creation, with the eligibility of the recipients."""
    shown = service.plan(drawn.row, ["Recipients and their tree stored"])
    check = None if drawn.checked is None else await eligibility.shown(context, drawn.checked)
    return shown.model_copy(update={"check": check})
