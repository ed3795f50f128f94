"""`/v1/orgs/{orgId}/requests`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import ACTIONS, Scope
from backend.core.errors import Conflict
from backend.lists.pages import Page
from backend.requests import listing
from backend.requests.accept import retry
from backend.requests.schemas import Request, RequestList, RequestRetried, RequestStatus

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/requests", tags=["Requests"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ORGS_READ)
async def list_requests(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    status: RequestStatus | None = None,
    subject: UUID | None = None,
) -> RequestList:
    """List accepted operations, newest first, with their steps."""
    return await listing.page(context, page, status, subject)


@router.get("/{requestId}")
@requires(Scope.ORGS_READ)
async def get_request(context: Current, orgId: UUID, requestId: UUID) -> Request:
    """Get an operation with its steps and transactions."""
    return await listing.one(context, requestId)


@router.post("/{requestId}/retry", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_READ, action=ACTIONS, fresh=True)
async def retry_request(context: Current, orgId: UUID, requestId: UUID, response: Response) -> RequestRetried:
    """Retry a failed operation. Completed work is not repeated."""
    row = await listing.locked(context, requestId)
    context.require(Scope(row.scope))
    if not row.can_retry:
        raise Conflict("This request cannot be retried. Only requests that failed with a temporary problem can.")
    await retry(context, row)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{requestId}"
    found = await listing.one(context, requestId)
    return RequestRetried.model_validate({**dict(found), "requestId": found.id})
