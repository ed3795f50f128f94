"""Request transfers: check every rule, and pass them to the workflow."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import gas, records, transfer_check
from backend.assets.models import AssetRow
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.abi.calls import Call
from backend.chain.bindings import token
from backend.chain.errors import Reverted
from backend.chain.transactions import lost_transactions
from backend.chain.transactions.execution import rehearse
from backend.chains import new_activity
from backend.compliance.refusal import Refused
from backend.compliance.rules import failures
from backend.compliance.schemas import RuleVerdict, TransferCheck
from backend.core import db
from backend.core.changes import publish, shown
from backend.core.errors import NotFound
from backend.core.units import grouped
from backend.daily_use import counts
from backend.daily_use.counts import Amount
from backend.requests.accept import accept, acceptance_message
from backend.requests.service import Step
from backend.requests.waiting import accepted_status
from backend.transfers import rules
from backend.transfers.models import TransferRow
from backend.transfers.schemas import (
    BalanceChange,
    Transfer,
    TransferAccepted,
    TransferCreate,
    TransferImpact,
    TransferPlan,
)
from backend.wallets.known_names import titles_of
from backend.wallets.models import WalletRow

KIND = "transfer.send"
IN_FLIGHT = 8
"""Transfers of one wallet that are sent at a time. Nonces keep them apart, so that none waits until the chain has
confirmed another one; the chain refuses one for which the balance is then too small."""


async def _checked(context: Context, body: TransferCreate) -> tuple[AssetRow, WalletRow, Place]:
    """Return the transfer after our rules, the token's own, and a simulation on the chain passed."""
    rules.check_amount(int(body.amount))
    asset = await records.asset(context.session, context.organization_id, body.asset_id)
    wallet = await _wallet(context, body.from_wallet_id)
    rules.check_signs(wallet.kind)
    place = await transfer_check.place_of(context, asset.id, body.chain_eid)
    await new_activity.check(context, place.eid)
    async with lost_transactions.considered(context.session, place.eid):
        await _check_on_chain(context, wallet, place, body)
    return asset, wallet, place


async def create(context: Context, body: TransferCreate) -> TransferAccepted:
    """Create a transfer and the request that sends it."""
    asset, wallet, _ = await _checked(context, body)
    return await _accept(context, asset, wallet, body)


async def plan(context: Context, body: TransferCreate) -> TransferPlan:
    """Run every check of a transfer, and return what it would move."""
    asset, wallet, place = await _checked(context, body)
    amount = int(body.amount) if body.to_address != wallet.address else 0
    changes = []
    async with db.paused(context.session):
        for address, moved in ((wallet.address, -amount), (body.to_address, amount)):
            held = await token.balance_of(place.eid, place.token, address)
            changes.append(BalanceChange(address=address, before=str(held), after=str(held + moved)))
    steps = [f"Send {grouped(body.amount, asset.decimals)} {asset.symbol}", "Read the movement back"]
    excess = await counts.excess(context.session, KIND, Amount(asset.id, int(body.amount)), lock=False)
    warnings = [f"{excess} A second person must approve it."] if excess else []
    return TransferPlan(steps=steps, impact=TransferImpact(changes=changes, warnings=warnings))


async def _wallet(context: Context, wallet_id: UUID) -> WalletRow:
    wallet: WalletRow | None = await context.session.scalar(
        sa.select(WalletRow).where(
            col(WalletRow.id) == wallet_id, col(WalletRow.organization_id) == context.organization_id
        )
    )
    if wallet is None:
        raise NotFound("There is no wallet with this ID in this organization.")
    return wallet


async def _check_on_chain(context: Context, wallet: WalletRow, place: Place, body: TransferCreate) -> None:
    """Raise 409 with every failed rule, or if the wallet cannot pay; then simulate the transfer. In one pause, because
    each one begins another transaction."""
    asked = TransferCheck(
        chain_eid=body.chain_eid, from_address=wallet.address, to_address=body.to_address, amount=body.amount
    )
    call = token.transfer(place.token, body.to_address, int(body.amount))
    cost: records.Cost | None = None
    async with db.paused(context.session):
        verdicts, _ = await transfer_check.verdicts_of(place, asked)
        if not failures(verdicts):
            cost = await records.cost_on_chain(wallet.address, place.eid, gas.TRANSFER)
            if cost.is_covered:
                verdicts = await _simulated(call, place, asked)
    if cost is None or failures(verdicts):
        raise Refused(failures(await transfer_check.resolved_verdicts(context, verdicts, body.asset_id, asked)))
    await records.check_covered(context.session, wallet, place.eid, cost)


async def _simulated(call: Call, place: Place, asked: TransferCheck) -> list[RuleVerdict]:
    """Simulate a transfer that every rule allows. If the chain refuses it and a rule fails in its newest block, such as
    after a freeze in the meantime, return the verdicts of that block; otherwise raise the chain's refusal."""
    try:
        await rehearse(call.intent("rehearsal", eid=place.eid, signer=asked.from_address))
    except Reverted:
        verdicts, _ = await transfer_check.verdicts_of(place, asked)
        if failures(verdicts):
            return verdicts
        raise
    return []


async def _title(context: Context, asset: AssetRow, wallet: WalletRow, body: TransferCreate) -> str:
    """Return the title of a transfer's request: what is sent, from whom and to whom."""
    names = await titles_of(context.session, context.organization_id, [wallet.address, body.to_address])
    amount = f"{grouped(body.amount, asset.decimals)} {asset.symbol}"
    return f"Transfer {amount} from {names[wallet.address]} to {names[body.to_address]}"


async def _accept(context: Context, asset: AssetRow, wallet: WalletRow, body: TransferCreate) -> TransferAccepted:
    row = TransferRow(
        organization_id=context.organization_id,
        asset_id=asset.id,
        chain_eid=body.chain_eid,
        from_wallet_id=wallet.id,
        from_address=wallet.address,
        to_address=body.to_address,
        amount=int(body.amount),
    )
    request = await accept(
        context,
        KIND,
        await _title(context, asset, wallet, body),
        subject=("transfer", row.id),
        scope=Scope.TRANSFERS_WRITE,
        steps=[
            Step("transfer_sent", "Send the transfer", body.chain_eid),
            Step("transfer_confirmed", "Confirm the transfer", body.chain_eid),
        ],
        order=f"{wallet.id}/{row.id.int % IN_FLIGHT}",
        moves=Amount(asset.id, int(body.amount)),
    )
    row.request_id = request.id
    context.session.add(row)
    subject, made = ("transfer", row.id), shown(Transfer, row)
    await publish(context.session, row.organization_id, "transfer.created", subject, None, made)
    return TransferAccepted(
        transferId=row.id,
        status=accepted_status(request, row.status),
        request_id=str(request.id),
        message=acceptance_message(request, "The transfer is being sent."),
    )
