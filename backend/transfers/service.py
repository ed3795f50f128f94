"""Request transfers: check every rule, and pass them to the workflow."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import gas, records, transfer_check
from backend.assets.models import AssetRow
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.abi.calls import Call, Intent
from backend.chain.bindings import token
from backend.chain.errors import Reverted
from backend.chain.transactions import lost_transactions, several
from backend.chain.transactions.execution import rehearse
from backend.chains import new_activity
from backend.compliance.refusal import Refused
from backend.compliance.rules import failures
from backend.compliance.schemas import RuleVerdict, TransferCheck
from backend.core import db
from backend.core.changes import publish, shown
from backend.core.errors import NotFound, SignumError
from backend.core.units import grouped
from backend.daily_use import counts
from backend.daily_use.counts import Amount
from backend.requests import groups
from backend.requests.accept import accept, acceptance_message
from backend.requests.groups import Asked
from backend.requests.models import RequestRow
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
    wallet = await wallet_of(context, body.from_wallet_id)
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


async def wallet_of(context: Context, wallet_id: UUID) -> WalletRow:
    """Return a wallet of the organization; 404 if it does not exist."""
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


async def create_together(context: Context, items: Mapping[int, TransferCreate]) -> dict[int, TransferAccepted]:
    """Create transfers as `create` does, in few round trips; return the acceptances of those that are accepted.

    The chain decides: it simulates each transfer with the token's own rules. It accepts none where each needs a
    decision of its own: `create` makes it, and says why one is refused.
    """
    if not await _need_no_decisions(context, items):
        return {}
    known = await _known(context, items)
    async with db.paused(context.session):
        passing = await _passing(context, known, items)
    known = {index: one for index, one in (await _known(context, items)).items() if index in passing}
    if not known or not await _need_no_decisions(context, items):  # again: a limit may be new since
        return {}
    addresses = {address for index, one in known.items() for address in (one.wallet.address, items[index].to_address)}
    names = await titles_of(context.session, context.organization_id, addresses)
    rows = {index: _row(context, one.asset, one.wallet, items[index]) for index, one in known.items()}
    asked = [
        Asked(
            _title(one.asset, one.wallet, items[index], names),
            ("transfer", rows[index].id),
            order=_order(rows[index]),
            steps=_steps(one.place.eid),
            eid=one.place.eid,
            signer=one.wallet.address,
            moves=Amount(one.asset.id, int(items[index].amount)),
        )
        for index, one in known.items()
    ]
    written = await groups.accept(context, KIND, asked, scope=Scope.TRANSFERS_WRITE)
    return {
        index: await _written(context, row, request)
        for (index, row), request in zip(rows.items(), written, strict=True)
    }


async def _need_no_decisions(context: Context, items: Mapping[int, TransferCreate]) -> bool:
    """Return whether neither a second person nor a daily limit decides about each of some transfers."""
    assets = {item.asset_id for item in items.values()}
    return await groups.can_accept(context, KIND) and not await counts.is_limited(context.session, KIND, assets)


@dataclass(frozen=True)
class _Known:
    """The asset, wallet and token of a transfer that our own rules allow."""

    asset: AssetRow
    wallet: WalletRow
    place: Place


async def _known(context: Context, items: Mapping[int, TransferCreate]) -> dict[int, _Known]:
    """Return what is known of those items that our own rules allow."""
    found = dict[tuple[UUID, UUID, int], _Known | None]()
    for item in items.values():
        key = (item.asset_id, item.from_wallet_id, item.chain_eid)
        if key not in found:
            found[key] = await _if_known(context, *key)
    return {
        index: known
        for index, item in items.items()
        if (known := found[item.asset_id, item.from_wallet_id, item.chain_eid]) and int(item.amount) > 0
    }


async def _if_known(context: Context, asset_id: UUID, wallet_id: UUID, eid: int) -> _Known | None:
    try:
        asset = await records.asset(context.session, context.organization_id, asset_id)
        wallet = await wallet_of(context, wallet_id)
        rules.check_signs(wallet.kind)
        return _Known(asset, wallet, await transfer_check.place_of(context, asset_id, eid))
    except SignumError:
        return None


async def _passing(
    context: Context, known: Mapping[int, _Known], items: Mapping[int, TransferCreate]
) -> frozenset[int]:
    """Return the items whose transactions the chain would accept, and their wallets can pay for."""
    intents = defaultdict[tuple[int, str], list[Intent]](list)
    for index, one in known.items():
        call = token.transfer(one.place.token, items[index].to_address, int(items[index].amount))
        signer, eid = one.wallet.address, one.place.eid
        intent = call.intent(str(index), eid=eid, signer=signer, organization_id=context.organization_id)
        intents[eid, signer].append(intent)
    passing = await asyncio.gather(*(several.rehearse(one) for one in intents.values()))
    return frozenset(int(key) for keys in passing for key in keys)


def _title(asset: AssetRow, wallet: WalletRow, body: TransferCreate, names: Mapping[str, str]) -> str:
    """Return the title of a transfer's request: what is sent, from whom and to whom."""
    amount = f"{grouped(body.amount, asset.decimals)} {asset.symbol}"
    return f"Transfer {amount} from {names[wallet.address]} to {names[body.to_address]}"


def _row(context: Context, asset: AssetRow, wallet: WalletRow, body: TransferCreate) -> TransferRow:
    return TransferRow(
        organization_id=context.organization_id,
        asset_id=asset.id,
        chain_eid=body.chain_eid,
        from_wallet_id=wallet.id,
        from_address=wallet.address,
        to_address=body.to_address,
        amount=int(body.amount),
    )


def _steps(eid: int) -> list[Step]:
    return [Step("transfer_sent", "Send the transfer", eid), Step("transfer_confirmed", "Confirm the transfer", eid)]


def _order(row: TransferRow) -> str:
    return f"{row.from_wallet_id}/{row.id.int % IN_FLIGHT}"


async def _accept(context: Context, asset: AssetRow, wallet: WalletRow, body: TransferCreate) -> TransferAccepted:
    names = await titles_of(context.session, context.organization_id, [wallet.address, body.to_address])
    row = _row(context, asset, wallet, body)
    request = await accept(
        context,
        KIND,
        _title(asset, wallet, body, names),
        subject=("transfer", row.id),
        scope=Scope.TRANSFERS_WRITE,
        steps=_steps(body.chain_eid),
        order=_order(row),
        moves=Amount(asset.id, int(body.amount)),
    )
    return await _written(context, row, request)


async def _written(context: Context, row: TransferRow, request: RequestRow) -> TransferAccepted:
    """Write an accepted transfer."""
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
