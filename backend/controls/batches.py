"""Batches of freezes: each item is a request of its own, as if it had been sent alone."""

from uuid import UUID

from fastapi import Request
from pydantic import BaseModel

from backend.auth.batches import Batch, repeats, response
from backend.auth.calls import Call
from backend.auth.principal import Context
from backend.controls import service
from backend.controls.schemas import (
    ControlAccepted,
    ControlKind,
    ControlPlan,
    FreezeBatch,
    FreezeBatchAccepted,
    FreezeBatchPlan,
    FreezeBatchResult,
    FreezeItemPlan,
)
from backend.core.errors import Conflict, SignumError


async def act(
    context: Context, request: Request, asset_id: UUID, kind: ControlKind, body: FreezeBatch
) -> FreezeBatchAccepted:
    """Freeze or unfreeze each account."""
    found = await _run(context, request, asset_id, kind, body, dry_run=False)
    fields = response(context, body.items, found, FreezeBatchResult, "acceptance", "chain_eid", "address")
    return FreezeBatchAccepted(**fields)


async def plan(
    context: Context, request: Request, asset_id: UUID, kind: ControlKind, body: FreezeBatch
) -> FreezeBatchPlan:
    """Check each item."""
    found = await _run(context, request, asset_id, kind, body, dry_run=True)
    return FreezeBatchPlan(**response(context, body.items, found, FreezeItemPlan, "plan", "chain_eid", "address"))


async def _run(
    context: Context, request: Request, asset_id: UUID, kind: ControlKind, body: FreezeBatch, *, dry_run: bool
) -> list[BaseModel | SignumError]:
    path = {"orgId": str(context.organization_id), "assetId": str(asset_id)}
    calls = [Call(kind.value, path, item.model_dump(mode="json", exclude_unset=True)) for item in body.items]
    again = repeats([(item.chain_eid, item.address) for item in body.items])

    async def one(own: Context, index: int) -> ControlAccepted | ControlPlan:
        if index in again:
            raise Conflict(f"Item {again[index] + 1} is the same account.")
        item = body.items[index]
        if dry_run:
            return await service.plan(own, asset_id, kind, item)
        return await service.act(own, asset_id, kind, item)

    return await Batch(request, context, calls).run(ControlAccepted, one, dry_run=dry_run)
