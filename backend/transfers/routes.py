"""`/v1/orgs/{orgId}/transfers`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response, status

from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.lists.pages import Page
from backend.requests.responses import accepted, planned
from backend.transfers import batches, listing, service
from backend.transfers.schemas import (
    Transfer,
    TransferAccepted,
    TransferBatch,
    TransferBatchAccepted,
    TransferBatchPlan,
    TransferCreate,
    TransferList,
    TransferPlan,
    TransferStatus,
)

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/transfers", tags=["Transfers"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.TRANSFERS_READ)
async def list_transfers(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    assetId: UUID | None = None,
    status: TransferStatus | None = None,
) -> TransferList:
    """List requested transfers, newest first."""
    return await listing.page(context, page, assetId, status)


@router.post("", status_code=status.HTTP_202_ACCEPTED, responses={404: {}})
@requires(Scope.TRANSFERS_WRITE, fresh=True)
async def create_transfer(
    context: Current, orgId: UUID, body: TransferCreate, response: Response, dry_run: DryRun = False
) -> TransferAccepted | TransferPlan:
    """Create a transfer of an asset from a server wallet. Every rule of the token is checked before anything is sent; a
    refusal (409) lists each failed rule in `rules`, with its reason and the call that resolves it."""
    if dry_run:
        return planned(response, await service.plan(context, body))
    return accepted(response, orgId, await service.create(context, body))


@router.post("/batch")
@requires(Scope.TRANSFERS_WRITE, fresh=True)
async def create_transfers(
    context: Current,
    orgId: UUID,
    body: TransferBatch,
    request: Request,
    dry_run: DryRun = False,
) -> TransferBatchAccepted | TransferBatchPlan:
    """Send up to 200 transfers, each a request of its own. A refused item has the problem that the operation for one
    transfer would return, and does not stop the others.

    An item is refused where the balance of its wallet does not cover it after the items before it. With an
    `Idempotency-Key`, each item has one effect: after a call that ended half-way, the same call continues it.
    """
    if dry_run:
        return await batches.plan(context, request, body)
    return await batches.create(context, request, body)


@router.get("/{transferId}")
@requires(Scope.TRANSFERS_READ)
async def get_transfer(context: Current, orgId: UUID, transferId: UUID) -> Transfer:
    """Get a transfer: its status, its transaction, and why it failed."""
    return await listing.one(context, transferId)
