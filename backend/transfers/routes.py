"""`/v1/orgs/{orgId}/transfers`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.route import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.keyset import Page
from backend.transfers import listing, service
from backend.transfers.schemas import (
    Transfer,
    TransferAccepted,
    TransferCreate,
    TransferList,
    TransferPlan,
    TransferStatus,
)

router = APIRouter(prefix="/orgs/{orgId}/transfers", tags=["Transfers"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.TRANSFERS_READ)
async def list_transfers(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends()],
    assetId: UUID | None = None,
    status: TransferStatus | None = None,
) -> TransferList:
    """Transfers that were asked for here, newest first."""
    return await listing.page(context, page, assetId, status)


@router.post("", status_code=status.HTTP_202_ACCEPTED, responses={404: {}})
@requires(Scope.TRANSFERS_WRITE, fresh=True)
async def create_transfer(
    context: Current, orgId: UUID, body: TransferCreate, response: Response, dry_run: DryRun = False
) -> TransferAccepted | TransferPlan:
    """Send an asset from a server wallet. Every rule of the token is asked before anything is sent; a refusal (409) has
    each rule that stands against it in `rules`, with its reason and the call that would put it right."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await service.plan(context, body)
    accepted = await service.create(context, body)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{accepted.request_id}"
    return accepted


@router.get("/{transferId}")
@requires(Scope.TRANSFERS_READ)
async def get_transfer(context: Current, orgId: UUID, transferId: UUID) -> Transfer:
    """One transfer: how far it is, its transaction, and why it failed where it did."""
    return await listing.one(context, transferId)
