"""`/v1/orgs/{orgId}/requests`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.route import Current, GuardedRoute, requires
from backend.auth.scopes import ACTIONS, Scope
from backend.errors import Conflict
from backend.keyset import Page
from backend.requests import listing
from backend.requests.accept import retry
from backend.requests.schemas import Request, RequestList, RequestStatus

router = APIRouter(prefix="/orgs/{orgId}/requests", tags=["Requests"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ORGS_READ)
async def list_requests(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends()],
    status: RequestStatus | None = None,
    subject: UUID | None = None,
) -> RequestList:
    """Accepted operations, newest first, with their steps."""
    return await listing.page(context, page, status, subject)


@router.get("/{requestId}")
@requires(Scope.ORGS_READ)
async def get_request(context: Current, orgId: UUID, requestId: UUID) -> Request:
    """One operation with its steps and transactions."""
    return await listing.one(context, requestId)


@router.post("/{requestId}/retry", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_READ, action=ACTIONS, fresh=True)
async def retry_request(context: Current, orgId: UUID, requestId: UUID, response: Response) -> Request:
    """Run a failed operation again; what it had done already is not done twice."""
    row = await listing.locked(context, requestId)
    context.require(Scope(row.scope))
    if not row.can_retry:
        raise Conflict("Only a failed request whose problem may pass can be tried again.")
    await retry(context, row)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{requestId}"
    return await listing.one(context, requestId)
