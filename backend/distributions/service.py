"""Distributions: checked and asked for. What is done on the chains is the workflow's."""

import asyncio
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import checking, gas, records
from backend.assets.checking import Place
from backend.assets.schemas import AssetStatus
from backend.assets.service import usable_chain
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.distributions import funding, proofs, rules, snapshot
from backend.distributions.merkle import MerkleTree
from backend.distributions.models import DistributionRow
from backend.distributions.recipients import Recipients
from backend.distributions.rules import Terms
from backend.distributions.schemas import (
    DistributionAccepted,
    DistributionActivate,
    DistributionCreate,
    DistributionPlan,
    DistributionStatus,
)
from backend.errors import Conflict, NotFound
from backend.issuers import service as issuers
from backend.requests.accept import accept
from backend.requests.service import Step

GAS = 1_900_000
"""Deployment, attestation, approval and activation together, with a margin."""


async def create(
    context: Context, asset_id: UUID, body: DistributionCreate, recipients: Recipients | None
) -> DistributionRow:
    """A draft; with recipients their tree is built and stored, so that every proof can be given at once."""
    place = await _distributable(context, asset_id, body.chain_eid)
    if body.holders is not None:
        recipients = await snapshot.recipients(context, asset_id, place, body.holders)
    row = DistributionRow(
        organization_id=context.organization_id,
        asset_id=asset_id,
        name=body.name,
        chain_eid=body.chain_eid,
        total_amount=int(body.total_amount or 0),
    )
    if recipients is None:
        context.session.add(row)
        await context.session.flush()
        return row
    tree = await asyncio.to_thread(MerkleTree, recipients.addresses, recipients.amounts)
    row.merkle_root, row.total_recipients, row.total_amount = tree.root, len(recipients.amounts), recipients.total
    row.has_recipients = True
    context.session.add(row)
    await context.session.flush()
    await proofs.store(context.session, row, recipients, tree)
    return row


async def _distributable(context: Context, asset_id: UUID, eid: int) -> Place:
    """Where the asset's token is; 404 without the asset, 400 where the chain will not do, 409 if it is not active."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    await usable_chain(context, eid)
    if asset.status not in (AssetStatus.ACTIVE, AssetStatus.UPDATING):
        raise Conflict(f"The asset is {asset.status}; it can be distributed when it is active.")
    return await checking.place_of(context, asset_id, eid)


async def distribution(
    context: Context, asset_id: UUID, distribution_id: UUID, *, lock: bool = False
) -> DistributionRow:
    """A distribution of an asset of the organization; 404 where it is not."""
    query = sa.select(DistributionRow).where(
        col(DistributionRow.id) == distribution_id,
        col(DistributionRow.asset_id) == asset_id,
        col(DistributionRow.organization_id) == context.organization_id,
    )
    row: DistributionRow | None = await context.session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise NotFound("This asset has no such distribution.")
    return row


async def checked(
    context: Context, asset_id: UUID, distribution_id: UUID, body: DistributionActivate
) -> tuple[DistributionRow, bool]:
    """The distribution, locked, and whether this activation was accepted before; every check of one that was not."""
    row = await distribution(context, asset_id, distribution_id, lock=True)
    own = Terms(row.chain_eid, row.merkle_root, row.total_recipients)
    if rules.is_repeated(row.status, own, body):
        return row, True
    rules.check_terms(own, body, row.has_recipients)
    place = await _distributable(context, asset_id, row.chain_eid)
    attester = await issuers.attester_on(context.session, context.organization_id, row.chain_eid)
    await funding.check(place, attester.address if attester else None, row.total_amount or 0)
    wallet = await records.treasury(context.session, context.organization_id)
    await records.check_funded(context.session, wallet, row.chain_eid, GAS)
    return row, False


async def activate(context: Context, asset_id: UUID, distribution_id: UUID, body: DistributionActivate) -> UUID | None:
    """Accept an activation, once; the id of its request."""
    row, is_repeated = await checked(context, asset_id, distribution_id, body)
    if is_repeated:
        return row.request_id
    row.merkle_root, row.total_recipients = body.merkleRoot, body.totalRecipients
    row.status, row.failure = DistributionStatus.ACTIVATING, None
    request = await accept(
        context,
        "distribution.activate",
        f"Activate the distribution {row.name}",
        subject=("distribution", row.id),
        scope=Scope.ASSETS_WRITE,
        order=asset_id,
        steps=[Step(name, title, row.chain_eid) for name, title in STEPS],
    )
    row.request_id = request.id
    return request.id


STEPS = (
    ("distributor_created", "Distributor created"),
    ("distributor_attested", "Distributor attested"),
    ("distribution_funded", "Sum approved for the distributor"),
    ("distribution_active", "Funded and active"),
)


def plan(row: DistributionRow, is_repeated: bool) -> DistributionPlan:
    """What an activation would do."""
    steps = [] if is_repeated else [title for _, title in STEPS]
    impact = {"total_amount": str(row.total_amount), "total_recipients": str(row.total_recipients or 0)}
    return DistributionPlan(steps=steps, impact=impact)


async def cancel(context: Context, asset_id: UUID, distribution_id: UUID) -> DistributionAccepted:
    """End a distribution; what nobody has claimed goes back to the owner's wallet."""
    row = await distribution(context, asset_id, distribution_id, lock=True)
    rules.check_cancellable(row.status)
    if row.distributor_address is not None:
        wallet = await records.treasury(context.session, context.organization_id)
        await records.check_funded(context.session, wallet, row.chain_eid, gas.MINT)
    request = await accept(
        context,
        "distribution.cancel",
        f"Cancel the distribution {row.name}",
        subject=("distribution", row.id),
        scope=Scope.ASSETS_WRITE,
        order=asset_id,
        steps=[Step("distribution_closed", "Closed, the rest returned", row.chain_eid)],
    )
    return DistributionAccepted(
        distributionId=row.id,
        status=row.status,
        request_id=str(request.id),
        message="The distribution is being cancelled.",
    )
