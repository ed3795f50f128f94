"""Batches of attestations: each item is a request of its own, as if it had been sent alone. Those that wait for no
second person are accepted and run together."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import sqlalchemy as sa
from fastapi import Request
from pydantic import BaseModel
from sqlmodel import col

from backend.attestations import service
from backend.attestations.schemas import (
    AttestationAccepted,
    AttestationBatch,
    AttestationBatchAccepted,
    AttestationBatchPlan,
    AttestationBatchResult,
    AttestationItemPlan,
    AttestationPlan,
)
from backend.auth.batches import Batch, refusal, repeats
from backend.auth.calls import Call
from backend.auth.principal import Context
from backend.core.errors import Conflict, SignumError
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus

ONE = "create_attestation"
"""The operation for one item. A second person approves each item as its call."""


async def create(context: Context, request: Request, body: AttestationBatch) -> AttestationBatchAccepted:
    """Issue each item."""
    found = await _run(context, request, body, dry_run=False)
    results = [
        AttestationBatchResult(
            party_id=item.party_id,
            chain_eid=item.chain_eid,
            acceptance=result if isinstance(result, AttestationAccepted) else None,
            problem=refusal(context, result) if isinstance(result, SignumError) else None,
        )
        for item, result in zip(body.items, found, strict=True)
    ]
    await _note_waiting(context, results)
    refused = sum(result.problem is not None for result in results)
    return AttestationBatchAccepted(accepted=len(results) - refused, refused=refused, results=results)


async def plan(context: Context, request: Request, body: AttestationBatch) -> AttestationBatchPlan:
    """Check each item."""
    found = await _run(context, request, body, dry_run=True)
    results = [
        AttestationItemPlan(
            party_id=item.party_id,
            chain_eid=item.chain_eid,
            plan=result if isinstance(result, AttestationPlan) else None,
            problem=refusal(context, result) if isinstance(result, SignumError) else None,
        )
        for item, result in zip(body.items, found, strict=True)
    ]
    refused = sum(result.problem is not None for result in results)
    return AttestationBatchPlan(accepted=len(results) - refused, refused=refused, results=results)


async def _run(
    context: Context, request: Request, body: AttestationBatch, *, dry_run: bool
) -> list[BaseModel | SignumError]:
    path = {"orgId": str(context.organization_id)}
    calls = [Call(ONE, path, item.model_dump(mode="json", exclude_unset=True)) for item in body.items]
    again = repeats([(item.party_id, item.chain_eid) for item in body.items])

    async def one(own: Context, index: int) -> AttestationAccepted | AttestationPlan:
        if index in again:
            raise Conflict(f"Item {again[index] + 1} attests the same party on the same chain.")
        return await service.create(own, body.items[index], dry_run)

    async def together(own: Context, indices: Sequence[int]) -> Mapping[int, AttestationAccepted]:
        return await service.create_together(own, {i: body.items[i] for i in indices if i not in again})

    batch = Batch(request, context, calls)
    if dry_run or len(calls) == 1:
        return await batch.run(AttestationAccepted, one, dry_run=dry_run)
    return await batch.run(AttestationAccepted, one, together=together)


async def _note_waiting(context: Context, results: Sequence[AttestationBatchResult]) -> None:
    """Mark the results whose requests wait for a second person."""
    made = {result.acceptance.request_id: result for result in results if result.acceptance}
    if made:
        query = sa.select(col(RequestRow.id)).where(
            col(RequestRow.id).in_([UUID(request_id) for request_id in made]),
            col(RequestRow.status) == RequestStatus.AWAITING_APPROVAL,
        )
        for request_id in await context.session.scalars(query):
            made[str(request_id)].awaits_approval = True
