"""Check and request distributions. The workflow does the work on chain."""

from collections.abc import Callable, Sequence
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
from backend.distributions import currencies, eligibility, funding, rules, states
from backend.distributions.models import DistributionRow
from backend.distributions.rules import Payout, Terms
from backend.distributions.schemas import (
    DistributionAccepted,
    DistributionActivate,
    DistributionPlan,
    DistributionStatus,
)
from backend.issuers import service as issuers
from backend.requests.accept import accept, acceptance_message
from backend.requests.service import Step
from backend.requests.waiting import accepted_status
from backend.wallets import signing_wallets

GAS = 1_900_000
"""Gas of deployment, attestation, approval and activation together, with a margin."""


T = TypeVar("T")


async def computed(context: Context, function: Callable[..., T], *args: Any) -> T:
    """Return the result of long work on a list of recipients. Callers take turns, without a database connection."""
    async with db.paused(context.session), threads.turn(Work.LISTS):
        return await threads.run(Work.LISTS, function, *args)


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
        if row.currency_address is not None:
            await eligibility.check_still(context, place, row)
            await currencies.check_balance(context, row, place)
        else:
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
        f'Activate the distribution "{row.name}"',
        subject=("distribution", row.id),
        scope=Scope.ASSETS_WRITE,
        order=asset_id,
        steps=[Step(name, title, row.chain_eid) for name, title in steps_of(row)],
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


def steps_of(row: DistributionRow) -> list[tuple[str, str]]:
    """Return the steps of an activation; a currency without rules needs no attestation."""
    return [step for step in STEPS if row.currency_address is None or step[0] != "distributor_attested"]


def plan(row: DistributionRow, steps: Sequence[str]) -> DistributionPlan:
    """Return the plan: its steps, how much goes to how many recipients, and the currency if it is not the asset."""
    impact = {
        "asset_id": str(row.asset_id),
        "total_amount": str(row.total_amount),
        "total_recipients": str(row.total_recipients or 0),
    }
    if row.merkle_root is not None:
        impact["merkle_root"] = row.merkle_root
    if row.currency_symbol is not None:
        impact |= {"currency_symbol": row.currency_symbol, "currency_decimals": str(row.currency_decimals)}
    return DistributionPlan(steps=list(steps), impact=impact)


async def activation_plan(
    context: Context, asset_id: UUID, distribution_id: UUID, body: DistributionActivate
) -> DistributionPlan:
    """Run every check of an activation, and return its steps; none if it was accepted before."""
    row, is_repeated = await checked(context, asset_id, distribution_id, body)
    own = {"merkle_root": body.merkleRoot, "total_recipients": str(body.totalRecipients)}
    shown = plan(row, [] if is_repeated else [title for _, title in steps_of(row)])
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
        f'Cancel the distribution "{row.name}"',
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
        status=accepted_status(request, row.status),
        request_id=str(request.id),
        message=acceptance_message(request, "The distribution is being cancelled."),
    )
