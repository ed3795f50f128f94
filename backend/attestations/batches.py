"""Batches of attestations: each item is a request of its own, as if it had been sent alone. Those that wait for no
second person are accepted and run together."""

from collections.abc import Mapping, Sequence

from fastapi import Request
from pydantic import BaseModel

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
from backend.auth.batches import Batch, repeats, response
from backend.auth.calls import Call
from backend.auth.principal import Context
from backend.core.errors import Conflict, SignumError
from backend.requests.schemas import RequestStatus

ONE = "create_attestation"
"""The operation for one item. A second person approves each item as its call."""


async def create(context: Context, request: Request, body: AttestationBatch) -> AttestationBatchAccepted:
    """Issue each item."""
    found = await _run(context, request, body, dry_run=False)
    fields = response(context, body.items, found, AttestationBatchResult, "acceptance", "party_id", "chain_eid")
    made = AttestationBatchAccepted(**fields)
    for result in made.results:
        accepted = result.acceptance
        result.awaits_approval = accepted is not None and accepted.status == RequestStatus.AWAITING_APPROVAL
    return made


async def plan(context: Context, request: Request, body: AttestationBatch) -> AttestationBatchPlan:
    """Check each item."""
    found = await _run(context, request, body, dry_run=True)
    fields = response(context, body.items, found, AttestationItemPlan, "plan", "party_id", "chain_eid")
    return AttestationBatchPlan(**fields)


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
