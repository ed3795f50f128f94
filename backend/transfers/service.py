"""Transfers: asked for, looked at by every rule, and handed to the workflow."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.assets import checking, gas, records
from backend.assets.checking import Place
from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain import lost_transactions, token
from backend.chain.transactions import rehearse
from backend.changes import shown, tell
from backend.compliance.refusal import Refused
from backend.compliance.rules import failures
from backend.compliance.schemas import TransferCheck
from backend.daily_limits import counting
from backend.daily_limits.counting import Amount
from backend.errors import NotFound
from backend.requests.accept import accept, told
from backend.requests.service import Step
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
from backend.units import grouped
from backend.wallets.models import WalletRow

KIND = "transfer.send"


async def _checked(context: Context, body: TransferCreate) -> tuple[AssetRow, WalletRow, Place]:
    """What is sent, by which wallet, once our rules, the token's own, and a rehearsal on the chain are passed."""
    rules.check_amount(int(body.amount))
    asset = await records.asset(context.session, context.organization_id, body.asset_id)
    wallet = await _wallet(context, body.from_wallet_id)
    rules.check_signs(wallet.kind)
    place = await checking.place_of(context, asset.id, body.chain_eid)
    async with lost_transactions.considered(context.session, place.eid):
        await _check_rules(context, wallet, body)
        await records.check_funded(context.session, wallet, body.chain_eid, gas.TRANSFER)
        call = token.transfer(place.token, body.to_address, int(body.amount))
        async with db.paused(context.session):
            await rehearse(call.intent("rehearsal", eid=place.eid, signer=wallet.address))
    return asset, wallet, place


async def create(context: Context, body: TransferCreate) -> TransferAccepted:
    """A transfer and the request that sends it."""
    asset, wallet, _ = await _checked(context, body)
    return await _accept(context, asset, wallet, body)


async def plan(context: Context, body: TransferCreate) -> TransferPlan:
    """Every check of a transfer, and what it would move."""
    asset, wallet, place = await _checked(context, body)
    amount = int(body.amount) if body.to_address != wallet.address else 0
    changes = []
    async with db.paused(context.session):
        for address, moved in ((wallet.address, -amount), (body.to_address, amount)):
            held = await token.balance_of(place.eid, place.token, address)
            changes.append(BalanceChange(address=address, before=str(held), after=str(held + moved)))
    steps = [f"Send {body.amount} base units of {asset.symbol}", "Read the movement back"]
    excess = await counting.excess(context.session, KIND, Amount(asset.id, int(body.amount)), lock=False)
    warnings = [f"{excess} A second person has to approve it."] if excess else []
    return TransferPlan(steps=steps, impact=TransferImpact(changes=changes, warnings=warnings))


async def _wallet(context: Context, wallet_id: UUID) -> WalletRow:
    wallet: WalletRow | None = await context.session.scalar(
        sa.select(WalletRow).where(
            col(WalletRow.id) == wallet_id, col(WalletRow.organization_id) == context.organization_id
        )
    )
    if wallet is None:
        raise NotFound("There is no such wallet in this organization.")
    return wallet


async def _check_rules(context: Context, wallet: WalletRow, body: TransferCreate) -> None:
    """409 with every rule that stands against it."""
    asked = TransferCheck(
        chain_eid=body.chain_eid, from_address=wallet.address, to_address=body.to_address, amount=body.amount
    )
    refused = failures((await checking.check(context, body.asset_id, asked)).rules)
    if refused:
        raise Refused(refused)


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
    context.session.add(row)
    await context.session.flush()
    request = await accept(
        context,
        KIND,
        f"Transfer {grouped(body.amount, asset.decimals)} {asset.symbol}",
        subject=("transfer", row.id),
        scope=Scope.TRANSFERS_WRITE,
        steps=[
            Step("transfer_sent", "Transfer sent", body.chain_eid),
            Step("transfer_confirmed", "Transfer confirmed", body.chain_eid),
        ],
        order=wallet.id,
        moves=Amount(asset.id, int(body.amount)),
    )
    row.request_id = request.id
    subject, made = ("transfer", row.id), shown(Transfer, row)
    await tell(context.session, row.organization_id, "transfer.created", subject, None, made)
    return TransferAccepted(
        transferId=row.id,
        status=row.status,
        request_id=str(request.id),
        message=told(request, "The transfer is being sent."),
    )
