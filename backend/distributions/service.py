"""Check and request distributions. The workflow does the work on chain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import gas, records, transfer_check
from backend.assets.schemas import AssetStatus
from backend.assets.service import usable_chain
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.transactions import lost_transactions
from backend.chains import service as chains
from backend.core import db, threads
from backend.core.changes import publish
from backend.core.errors import Conflict, NotFound
from backend.core.threads import Work
from backend.distributions import eligibility, funding, held, proofs, rules, snapshot, states
from backend.distributions.eligibility import Checked
from backend.distributions.merkle import MerkleTree
from backend.distributions.models import DistributionRow
from backend.distributions.recipients import Recipients
from backend.distributions.rules import Payout, Terms
from backend.distributions.schemas import (
    BlockedRecipients,
    DistributionAccepted,
    DistributionActivate,
    DistributionCreate,
    DistributionPlan,
    DistributionStatus,
)
from backend.issuers import service as issuers
from backend.organizations import quotas
from backend.requests.accept import accept, acceptance_message
from backend.requests.service import Step
from backend.wallets import signing_wallets

GAS = 1_900_000
"""Gas of deployment, attestation, approval and activation together, with a margin."""


T = TypeVar("T")


@dataclass(frozen=True)
class Draft:
    """A distribution that passed every check of its creation. Without recipients, it has no tree. `held` are positions
    in the list of `checked`, which is None if eligibility does not matter."""

    row: DistributionRow
    recipients: Recipients | None = None
    tree: MerkleTree | None = None
    checked: Checked | None = None
    held: Sequence[int] = ()


async def draft(
    context: Context, asset_id: UUID, body: DistributionCreate, recipients: Recipients | None, *, is_dry_run: bool
) -> Draft:
    """Run every check, and build the tree; nothing is written."""
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
        return Draft(row)
    is_checked = is_dry_run or body.blocked is not BlockedRecipients.INCLUDE
    checked = await eligibility.check(context, asset_id, place, recipients) if is_checked else None
    paid, on_hold = eligibility.chosen(checked, recipients, body.blocked)
    tree = await computed(context, MerkleTree, paid.addresses, paid.amounts)
    row.merkle_root, row.total_recipients, row.total_amount = tree.root, len(paid.amounts), paid.total
    row.has_recipients, row.held_recipients = True, len(on_hold)
    row.excluded_recipients = len(recipients.amounts) - row.total_recipients - row.held_recipients
    await quotas.check_recipients(context.session, context.organization_id, row.total_recipients + row.held_recipients)
    return Draft(row, paid, tree, checked, on_hold)


async def computed(context: Context, function: Callable[..., T], *args: Any) -> T:
    """Return the result of long work on a list of recipients. Callers take turns, without a database connection."""
    async with db.paused(context.session), threads.turn(Work.LISTS):
        return await threads.run(Work.LISTS, function, *args)


async def create(context: Context, drawn: Draft) -> UUID:
    """Write a draft with its recipients and their tree, so that every proof is available immediately; return its ID.

    Recipients that were stored concurrently are counted last: others wait for the commit only.
    """
    if drawn.recipients is not None:
        stored = len(drawn.recipients.amounts) + len(drawn.held)
        await quotas.count_recipients(context.session, context.organization_id, stored)
    context.session.add(drawn.row)
    await context.session.flush()
    if drawn.recipients is not None and drawn.tree is not None:
        await proofs.store(context.session, drawn.row, drawn.recipients, drawn.tree)
    if drawn.checked is not None:
        await held.store(context.session, drawn.row, drawn.checked, drawn.held)
    await states.created(context.session, drawn.row)
    if drawn.row.has_recipients:
        await quotas.queue_recipients(context.session, context.organization_id)
        await quotas.check_recipients(context.session, context.organization_id)
    return drawn.row.id


async def distributable(context: Context, asset_id: UUID, eid: int) -> Place:
    """Return the asset's token; 404 without the asset, 400 if the chain is unusable, 409 if the asset is not active."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    await usable_chain(context, eid)
    if asset.status not in (AssetStatus.ACTIVE, AssetStatus.UPDATING):
        raise Conflict(f"The asset is {asset.status}. Only an active asset can be distributed.")
    return await transfer_check.place_of(context, asset_id, eid)


async def distribution(
    context: Context, asset_id: UUID, distribution_id: UUID, *, lock: bool = False
) -> DistributionRow:
    """Return a distribution of an asset of the organization; 404 if it does not exist."""
    query = sa.select(DistributionRow).where(
        col(DistributionRow.id) == distribution_id,
        col(DistributionRow.asset_id) == asset_id,
        col(DistributionRow.organization_id) == context.organization_id,
    )
    row: DistributionRow | None = await context.session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise NotFound("This asset has no distribution with this ID.")
    return row


async def checked(
    context: Context, asset_id: UUID, distribution_id: UUID, body: DistributionActivate
) -> tuple[DistributionRow, bool]:
    """Return the locked distribution, and whether this activation was accepted before; a new one passes every check."""
    row = await distribution(context, asset_id, distribution_id)
    if _is_repeated(row, body):
        return row, True
    place = await distributable(context, asset_id, row.chain_eid)
    attester = await issuers.attester_on(context.session, context.organization_id, row.chain_eid)
    async with lost_transactions.considered(context.session, row.chain_eid):
        async with db.paused(context.session):
            await funding.check(place, attester.address if attester else None, row.total_amount or 0)
        wallet = await signing_wallets.treasury(context.session, context.organization_id)
        await records.check_funded(context.session, wallet, row.chain_eid, GAS)
    row = await distribution(context, asset_id, distribution_id, lock=True)
    return row, _is_repeated(row, body)


def _is_repeated(row: DistributionRow, body: DistributionActivate) -> bool:
    """Return whether this activation was accepted before; 400 or 409 if it is not possible."""
    own = Terms(row.chain_eid, row.merkle_root, row.total_recipients)
    if rules.is_repeated(row.status, own, body):
        return True
    rules.check_terms(own, body, row.has_recipients)
    return False


async def activate(context: Context, asset_id: UUID, distribution_id: UUID, body: DistributionActivate) -> UUID | None:
    """Accept an activation once; return its request's ID."""
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


async def creation_plan(context: Context, drawn: Draft) -> DistributionPlan:
    """Return the plan of a creation, with the eligibility of the recipients."""
    shown = plan(drawn.row, ["Recipients and their tree stored"])
    check = None if drawn.checked is None else await eligibility.shown(context, drawn.checked)
    return shown.model_copy(update={"check": check})


def plan(row: DistributionRow, steps: Sequence[str]) -> DistributionPlan:
    """Return the plan: its steps, and how much goes to how many recipients."""
    impact = {"total_amount": str(row.total_amount), "total_recipients": str(row.total_recipients or 0)}
    if row.merkle_root is not None:
        impact["merkle_root"] = row.merkle_root
    return DistributionPlan(steps=list(steps), impact=impact)


async def activation_plan(
    context: Context, asset_id: UUID, distribution_id: UUID, body: DistributionActivate
) -> DistributionPlan:
    """Run every check of an activation, and return its steps; none if it was accepted before."""
    row, is_repeated = await checked(context, asset_id, distribution_id, body)
    own = {"merkle_root": body.merkleRoot, "total_recipients": str(body.totalRecipients)}
    shown = plan(row, [] if is_repeated else [title for _, title in STEPS])
    return shown.model_copy(update={"impact": shown.impact | own})


CLOSING = "Closed, the rest returned"


async def cancellable(context: Context, asset_id: UUID, distribution_id: UUID) -> DistributionRow:
    """Return the distribution, locked, after every check of a cancellation."""
    row = await distribution(context, asset_id, distribution_id)
    await chains.check_network(context, row.chain_eid)
    rules.check_cancellable(row.status)
    if row.distributor_address is not None:
        wallet = await signing_wallets.treasury(context.session, context.organization_id)
        await records.check_funded(context.session, wallet, row.chain_eid, gas.MINT)
    row = await distribution(context, asset_id, distribution_id, lock=True)
    rules.check_cancellable(row.status)
    return row


async def cancel(context: Context, asset_id: UUID, distribution_id: UUID) -> DistributionAccepted:
    """Cancel a distribution; unclaimed amounts return to the owner's wallet."""
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
    await publish(context.session, row.organization_id, "distribution.cancelling", subject, None, asked)
    return DistributionAccepted(
        distributionId=row.id,
        status=row.status,
        request_id=str(request.id),
        message=acceptance_message(request, "The distribution is being cancelled."),
    )
