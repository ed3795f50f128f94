"""Batches of transfers: each item is a request of its own, as if it had been sent alone. Those that wait for no second
person are accepted and run together."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from fastapi import Request
from pydantic import BaseModel

from backend.assets import records, transfer_check
from backend.auth.batches import Batch, response
from backend.auth.calls import Call
from backend.auth.principal import Context
from backend.core import db
from backend.core.errors import Conflict, SignumError
from backend.core.units import grouped
from backend.transfers import service
from backend.transfers.schemas import (
    TransferAccepted,
    TransferBatch,
    TransferBatchAccepted,
    TransferBatchPlan,
    TransferBatchResult,
    TransferCreate,
    TransferItemPlan,
    TransferPlan,
)

ONE = "create_transfer"
"""The operation for one item. A second person approves each item as its call."""


async def create(context: Context, request: Request, body: TransferBatch) -> TransferBatchAccepted:
    """Send each item."""
    found = await _run(context, request, body, dry_run=False)
    fields = response(context, body.items, found, TransferBatchResult, "acceptance", "to_address", "amount")
    return TransferBatchAccepted(**fields)


async def plan(context: Context, request: Request, body: TransferBatch) -> TransferBatchPlan:
    """Check each item."""
    found = await _run(context, request, body, dry_run=True)
    return TransferBatchPlan(**response(context, body.items, found, TransferItemPlan, "plan", "to_address", "amount"))


async def _run(
    context: Context, request: Request, body: TransferBatch, *, dry_run: bool
) -> Sequence[BaseModel | SignumError]:
    path = {"orgId": str(context.organization_id)}
    calls = [Call(ONE, path, item.model_dump(mode="json", exclude_unset=True)) for item in body.items]
    everything = range(len(body.items))
    uncovered = await _uncovered(context, body.items, everything) if dry_run else {}

    async def one(own: Context, index: int) -> TransferAccepted | TransferPlan:
        if index in uncovered:
            raise uncovered[index]
        return await (service.plan if dry_run else service.create)(own, body.items[index])

    async def together(own: Context, indices: Sequence[int]) -> Mapping[int, TransferAccepted]:
        uncovered.update(await _uncovered(own, body.items, indices))
        return await service.create_together(own, {i: body.items[i] for i in indices if i not in uncovered})

    batch = Batch(request, context, calls)
    if dry_run or len(calls) == 1:
        return await batch.run(TransferAccepted, one, dry_run=dry_run)
    return await batch.run(TransferAccepted, one, together=together)


async def _uncovered(context: Context, items: Sequence[TransferCreate], indices: Sequence[int]) -> dict[int, Conflict]:
    """Return the refusals of items, among those with some numbers, that the balance of their wallet would cover alone,
    but not after the others before them. What cannot be read here is left to the check of each item."""
    places = defaultdict[tuple[object, ...], list[int]](list)
    for index in indices:
        item = items[index]
        places[item.asset_id, item.from_wallet_id, item.chain_eid].append(index)
    found = dict[int, Conflict]()
    for those in places.values():
        if len(those) > 1:
            found |= await _beyond(context, items, those)
    return found


async def _beyond(context: Context, items: Sequence[TransferCreate], indices: Sequence[int]) -> dict[int, Conflict]:
    first = items[indices[0]]
    try:
        asset = await records.asset(context.session, context.organization_id, first.asset_id)
        wallet = await service.wallet_of(context, first.from_wallet_id)
        place = await transfer_check.place_of(context, asset.id, first.chain_eid)
        async with db.paused(context.session):
            (account,) = (await transfer_check.facts_of(place, wallet.address)).accounts
    except SignumError:
        return {}
    has, sent, found = account.balance - min(account.frozen, account.balance), 0, dict[int, Conflict]()
    for index in indices:
        amount = int(items[index].amount)
        if amount > has:
            continue  # its own check says so
        if sent + amount > has:
            able, used = (f"{grouped(units, asset.decimals)} {asset.symbol}" for units in (has, sent))
            words = f"{wallet.label} can send {able}, and the items before this one already send {used}."
            found[index] = Conflict(f"{words} Send less, or mint more first.")
        else:
            sent += amount
    return found
