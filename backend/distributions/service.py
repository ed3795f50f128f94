"""Distributions: checked and asked for. What is done on the chains is the workflow's."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.assets import checking, gas, records
from backend.assets.checking import Place
from backend.assets.schemas import AssetStatus
from backend.assets.service import usable_chain
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain import lost_transactions
from backend.chains import service as chains
from backend.changes import tell
from backend.distributions import funding, proofs, rules, snapshot, states
from backend.distributions.merkle import MerkleTree
from backend.distributions.models import DistributionRow
from backend.distributions.recipients import Recipients
from backend.distributions.rules import Payout, Terms
from backend.distributions.schemas import (
    DistributionAccepted,
    DistributionActivate,
    DistributionCreate,
    DistributionPlan,
    DistributionStatus,
)
from backend.errors import Conflict, NotFound
from backend.issuers import service as issuers
from backend.requests.accept import accept, told
from backend.requests.service import Step

GAS = 1_900_000
"""Deployment, attestation, approval and activation together, with a margin."""


@dataclass(frozen=True)
class Draft:
    """A distribution that passed every check of its making. Without recipients it has no tree either."""

    row: DistributionRow
    recipients: Recipients | None
    tree: MerkleTree | None


async def draft(context: Context, asset_id: UUID, body: DistributionCreate, recipients: Recipients | None) -> Draft:
    """Every check, and the tree; nothing is written."""
    place = await distributable(context, asset_id, body.chain_eid)
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
        return Draft(row, None, None)
    tree = await asyncio.to_thread(MerkleTree, recipients.addresses, recipients.amounts)
    row.merkle_root, row.total_recipients, row.total_amount = tree.root, len(recipients.amounts), recipients.total
    row.has_recipients = True
    return Draft(row, recipients, tree)


async def create(context: Context, drawn: Draft) -> UUID:
    """Write a draft with its recipients and their tree, so that every proof can be given at once; its id."""
    context.session.add(drawn.row)
    await context.session.flush()
    if drawn.recipients is not None and drawn.tree is not None:
        await proofs.store(context.session, drawn.row, drawn.recipients, drawn.tree)
    await states.created(context.session, drawn.row)
    return drawn.row.id


async def distributable(context: Context, asset_id: UUID, eid: int) -> Place:
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
    row = await distribution(context, asset_id, distribution_id)
    if _is_repeated(row, body):
        return row, True
    place = await distributable(context, asset_id, row.chain_eid)
    attester = await issuers.attester_on(context.session, context.organization_id, row.chain_eid)
    async with lost_transactions.considered(context.session, row.chain_eid):
        async with db.paused(context.session):
            await funding.check(place, attester.address if attester else None, row.total_amount or 0)
        wallet = await records.treasury(context.session, context.organization_id)
        await records.check_funded(context.session, wallet, row.chain_eid, GAS)
    row = await distribution(context, asset_id, distribution_id, lock=True)
    return row, _is_repeated(row, body)


def _is_repeated(row: DistributionRow, body: DistributionActivate) -> bool:
    """Whether this activation was accepted before; 400 or 409 where it cannot be."""
    own = Terms(row.chain_eid, row.merkle_root, row.total_recipients)
    if rules.is_repeated(row.status, own, body):
        return True
    rules.check_terms(own, body, row.has_recipients)
    return False


async def activate(context: Context, asset_id: UUID, distribution_id: UUID, body: DistributionActivate) -> UUID | None:
    """Accept an activation, once; the id of its request."""
    row, is_repeated = await checked(context, asset_id, distribution_id, body)
    if is_repeated:
        return row.request_id
    request = await accept(
        context,
        "distribution.activate",
        f"Activate the distribution {row.name}",
        subject=("distribution", row.id),
        scope=Scope.ASSETS_WRITE,
        order=asset_id,
        steps=[Step(name, title, row.chain_eid) for name, title in STEPS],
        arguments=Payout(body.merkleRoot, body.totalRecipients, row.total_amount or 0).stored(),
    )
    await states.change(
        context.session,
        row,
        merkle_root=body.merkleRoot,
        total_recipients=body.totalRecipients,
        status=DistributionStatus.ACTIVATING,
        failure=None,
        request_id=request.id,
    )
    return request.id


STEPS = (
    ("distributor_created", "Distributor created"),
    ("distributor_attested", "Distributor attested"),
    ("distribution_funded", "Sum approved for the distributor"),
    ("distribution_active", "Funded and active"),
)


def plan(row: DistributionRow, steps: Sequence[str]) -> DistributionPlan:
    """What would be done, and what of it goes to how many."""
    impact = {"total_amount": str(row.total_amount), "total_recipients": str(row.total_recipients or 0)}
    if row.merkle_root is not None:
        impact["merkle_root"] = row.merkle_root
    return DistributionPlan(steps=list(steps), impact=impact)


async def activation_plan(
    context: Context, asset_id: UUID, distribution_id: UUID, body: DistributionActivate
) -> DistributionPlan:
    """Every check of an activation, and its steps; none where it was accepted before."""
    row, is_repeated = await checked(context, asset_id, distribution_id, body)
    return plan(row, [] if is_repeated else [title for _, title in STEPS])


CLOSING = "Closed, the rest returned"


async def cancellable(context: Context, asset_id: UUID, distribution_id: UUID) -> DistributionRow:
    """The distribution, locked, once every check of a cancellation is passed."""
    row = await distribution(context, asset_id, distribution_id)
    await chains.check_network(context, row.chain_eid)
    rules.check_cancellable(row.status)
    if row.distributor_address is not None:
        wallet = await records.treasury(context.session, context.organization_id)
        await records.check_funded(context.session, wallet, row.chain_eid, gas.MINT)
    row = await distribution(context, asset_id, distribution_id, lock=True)
    rules.check_cancellable(row.status)
    return row


async def cancel(context: Context, asset_id: UUID, distribution_id: UUID) -> DistributionAccepted:
    """End a distribution; what nobody has claimed goes back to the owner's wallet."""
    row = await cancellable(context, asset_id, distribution_id)
    request = await accept(
        context,
        "distribution.cancel",
        f"Cancel the distribution {row.name}",
        subject=("distribution", row.id),
        scope=Scope.ASSETS_WRITE,
        order=asset_id,
        steps=[Step("distribution_closed", CLOSING, row.chain_eid)],
        arguments={"status": row.status},
    )
    subject, asked = ("distribution", row.id), {"request_id": str(request.id)}
    await tell(context.session, row.organization_id, "distribution.cancelling", subject, None, asked)
    return DistributionAccepted(
        distributionId=row.id,
        status=row.status,
        request_id=str(request.id),
        message=told(request, "The distribution is being cancelled."),
    )
