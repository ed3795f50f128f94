"""`/v1/orgs/{orgId}/approvals`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status

from backend.approvals import listing, policy, service
from backend.approvals.schemas import (
    ApprovalDeny,
    ApprovalDetail,
    ApprovalList,
    PolicyAccepted,
    PolicyChange,
    PolicyPlan,
)
from backend.auth.route import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import ACTIONS, Scope
from backend.keyset import Page
from backend.requests.schemas import ApprovalStatus

router = APIRouter(prefix="/orgs/{orgId}/approvals", tags=["Approvals"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ORGS_READ)
async def list_approvals(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends()],
    status: ApprovalStatus | None = None,
    can_decide: Annotated[bool | None, Query(description="Those that the caller may decide about, or not.")] = None,
    asked_by: Annotated[UUID | None, Query(description="Those that this person asked for.")] = None,
) -> ApprovalList:
    """What waits, or waited, for a second person; newest first."""
    return await listing.page(context, page, status, can_decide, asked_by)


@router.post("", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_WRITE, fresh=True)
async def change_approval_policy(
    context: Current, orgId: UUID, body: PolicyChange, response: Response, dry_run: DryRun = False
) -> PolicyAccepted | PolicyPlan:
    """Ask for a change of the actions that need a second person, of the hours for which a new approver waits, of the
    requirement of a second factor, or of the allowed IP ranges. Only a person asks for other ranges.

    Another person with orgs:write has to approve it, so nobody can lift alone what binds them. A PATCH of the
    organization adds actions and lengthens the wait at once.
    """
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await policy.plan(context, body)
    accepted = await policy.ask(context, body)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{accepted.request_id}"
    return accepted


@router.get("/{approvalId}")
@requires(Scope.ORGS_READ)
async def get_approval(context: Current, orgId: UUID, approvalId: UUID) -> ApprovalDetail:
    """One approval, with what the action would do if it were approved now, or why it cannot be done."""
    return await listing.one(context, approvalId)


@router.post("/{approvalId}/approve", status_code=status.HTTP_202_ACCEPTED, responses={409: {}})
@requires(Scope.ORGS_READ, action=ACTIONS, person=True, fresh=True)
async def approve_request(context: Current, orgId: UUID, approvalId: UUID, response: Response) -> ApprovalDetail:
    """Agree as the second person: needs a signed-in person who is not who asked (nor made the API key that asked), who
    had their role before it was asked, was neither added nor promoted by who asked, and signs in with none of their
    wallets. Everything is checked again, also that who asked may still do it; what does not hold any more
    is a 409 and leaves it waiting. Where it was decided already, a 409 says by whom."""
    approval = await service.approve(context, approvalId)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{approval.request_id}"
    return approval


@router.post("/{approvalId}/deny", status_code=status.HTTP_202_ACCEPTED, responses={409: {}})
@requires(Scope.ORGS_READ, action=ACTIONS, person=True)
async def deny_request(
    context: Current, orgId: UUID, approvalId: UUID, body: ApprovalDeny, response: Response
) -> ApprovalDetail:
    """Refuse as the second person, by the same right as an approval. The request ends as `denied`, and what it had
    written ends with it."""
    approval = await service.deny(context, approvalId, body.reason)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{approval.request_id}"
    return approval
