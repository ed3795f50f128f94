"""Payments: claims that the organization sends for recipients. Anyone may send a claim: it pays the recipient."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import gas, records
from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chains import service as chains
from backend.compliance.refusal import Refused
from backend.compliance.resolutions import resolved
from backend.core.changes import publish
from backend.distributions import claim_checks, currencies, proofs, rules, service
from backend.distributions.models import DistributionRow
from backend.distributions.schemas import DistributionPlan, Proof, RecipientPaymentAccepted
from backend.requests.accept import accept, acceptance_message
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from backend.requests.service import Step
from backend.wallets import signing_wallets
from backend.wallets.known_names import titles_of

KIND = "distribution.pay"
"""It needs no second person: who is paid how much was decided with the activation."""
PAYING = "Amount paid to the recipient"
_OPEN = (RequestStatus.ACCEPTED, RequestStatus.RUNNING)


async def _checked(
    context: Context, asset_id: UUID, distribution_id: UUID, address: str
) -> tuple[DistributionRow, Proof, RequestRow | None]:
    """Return the locked distribution, the recipient, and the request that pays it already; without one, a payment
    passes every check.

    404 if the address is not a known recipient; 409 if the distribution is not active, the amount was claimed, the
    token refuses the payment, or the treasury cannot pay for the transaction.
    """
    row, proof, running = await _found(context, asset_id, distribution_id, address)
    if running is not None:
        return row, proof, running
    await chains.check_network(context, row.chain_eid)
    if refused := await claim_checks.refusals(context, row, proof.address, int(proof.amount)):
        raise Refused(resolved(refused, context.organization_id, asset_id, row.chain_eid))
    wallet = await signing_wallets.treasury(context.session, context.organization_id)
    await records.check_funded(context.session, wallet, row.chain_eid, gas.TRANSFER)
    return await _found(context, asset_id, distribution_id, address, lock=True)


async def _found(
    context: Context, asset_id: UUID, distribution_id: UUID, address: str, *, lock: bool = False
) -> tuple[DistributionRow, Proof, RequestRow | None]:
    row = await service.distribution(context, asset_id, distribution_id, lock=lock)
    proof = await proofs.proof(context, row, address)
    rules.check_payable(row.status, proof.claimed)
    return row, proof, await _running(context, row, proof.address)


async def _running(context: Context, row: DistributionRow, address: str) -> RequestRow | None:
    """Return the request that pays a recipient at the moment."""
    recipient: Any = col(RequestRow.arguments)["address"].astext
    query = sa.select(RequestRow).where(
        col(RequestRow.organization_id) == context.organization_id,
        col(RequestRow.subject_id) == row.id,
        col(RequestRow.kind) == KIND,
        col(RequestRow.status).in_(_OPEN),
        recipient == address,
    )
    return (await context.session.scalars(query.limit(1))).first()


async def plan(context: Context, asset_id: UUID, distribution_id: UUID, address: str) -> DistributionPlan:
    """Run every check of a payment, and return its steps; none if a request pays the recipient already."""
    row, proof, running = await _checked(context, asset_id, distribution_id, address)
    impact = {"asset_id": str(asset_id), "address": proof.address, "amount": proof.amount}
    if row.currency_symbol is not None:
        impact |= {"currency_symbol": row.currency_symbol, "currency_decimals": str(row.currency_decimals)}
    return DistributionPlan(steps=[] if running else [PAYING], impact=impact)


async def pay(context: Context, asset_id: UUID, distribution_id: UUID, address: str) -> RecipientPaymentAccepted:
    """Have the claim of a recipient sent from the wallet that owns the token. A repetition returns the request that
    pays the recipient already."""
    row, proof, request = await _checked(context, asset_id, distribution_id, address)
    if request is None:
        request = await _accept(context, row, proof)
    return RecipientPaymentAccepted(
        distributionId=row.id,
        address=proof.address,
        status=row.status,
        request_id=str(request.id),
        message=acceptance_message(request, "The amount is being paid to the recipient."),
    )


async def _accept(context: Context, row: DistributionRow, proof: Proof) -> RequestRow:
    names = await titles_of(context.session, context.organization_id, [proof.address])
    amount = currencies.written(row, await context.session.get_one(AssetRow, row.asset_id), int(proof.amount))
    request = await accept(
        context,
        KIND,
        f"Pay {amount} of {row.name} to {names[proof.address]}",
        subject=("distribution", row.id),
        scope=Scope.ASSETS_WRITE,
        order=row.asset_id,
        steps=[Step("recipient_paid", PAYING, row.chain_eid)],
        arguments={"address": proof.address},
    )
    subject, asked = ("distribution", row.id), {"request_id": str(request.id), "address": proof.address}
    await publish(context.session, row.organization_id, "distribution.paying", subject, None, asked)
    return request
