"""`/v1/orgs/{orgId}/approvals`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status

from backend.approvals import listing, policy, service
from backend.approvals.schemas import (
    ApprovalComment,
    ApprovalCommentCreate,
    ApprovalDecided,
    ApprovalDeny,
    ApprovalDetail,
    ApprovalList,
    ApprovalWithdraw,
    PolicyAccepted,
    PolicyChange,
    PolicyPlan,
)
from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import ACTIONS, Scope
from backend.lists.pages import Page
from backend.requests.responses import accepted, planned
from backend.requests.schemas import ApprovalStatus

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/approvals", tags=["Approvals"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ORGS_READ)
async def list_approvals(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    status: ApprovalStatus | None = None,
    can_decide: Annotated[
        bool | None, Query(description="Only approvals that the caller may decide (`true`) or may not (`false`).")
    ] = None,
    asked_by: Annotated[UUID | None, Query(description="Only approvals that this person requested.")] = None,
) -> ApprovalList:
    """List approvals: actions that wait, or waited, for a second person; newest first."""
    return await listing.page(context, page, status, can_decide, asked_by)


@router.post("", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_WRITE, fresh=True)
async def change_approval_policy(
    context: Current, orgId: UUID, body: PolicyChange, response: Response, dry_run: DryRun = False
) -> PolicyAccepted | PolicyPlan:
    """Request a change of the approval policy: the actions that need a second person, the hours for which a new
    approver waits, the requirement of a second factor, or the allowed IP ranges. Only a person can request the
    last two.

    Another person with orgs:write has to approve it, so no one can remove a restriction alone. A PATCH of the
    organization adds actions and lengthens the wait immediately.
    """
    if dry_run:
        return planned(response, await policy.plan(context, body))
    return accepted(response, orgId, await policy.ask(context, body))


@router.get("/{approvalId}")
@requires(Scope.ORGS_READ)
async def get_approval(context: Current, orgId: UUID, approvalId: UUID) -> ApprovalDetail:
    """Get an approval, with the current plan of the action, or the reason why it is not possible."""
    return await listing.one(context, approvalId)


@router.post("/{approvalId}/comments", status_code=status.HTTP_201_CREATED, responses={409: {}})
@requires(Scope.ORGS_READ, action=ACTIONS, person=True)
async def comment_on_approval(
    context: Current, orgId: UUID, approvalId: UUID, body: ApprovalCommentCreate
) -> ApprovalComment:
    """Comment on a pending approval, as a signed-in person with the action's scope: the requester, or anyone who could
    decide. An approval has at most 100 comments, which stay with it; a decided one refuses further ones (409).
    """
    return await service.comment(context, approvalId, body.text)


@router.post("/{approvalId}/approve", status_code=status.HTTP_202_ACCEPTED, responses={409: {}})
@requires(Scope.ORGS_READ, action=ACTIONS, person=True, fresh=True)
async def approve_request(context: Current, orgId: UUID, approvalId: UUID, response: Response) -> ApprovalDecided:
    """Approve a request as the second person.

    Needs a signed-in person who did not request the action (nor create the API key that did), had their role before the
    request, was neither added nor promoted by the requester, and signs in with none of the requester's wallets.
    Everything is checked again, including the requester's permission, and that the request still does what it did when
    it was made: a failed check is a 409 that names what has changed, an earlier decision one that names who decided.
    """
    return accepted(response, orgId, ApprovalDecided.of(await service.approve(context, approvalId)))


@router.post("/{approvalId}/deny", status_code=status.HTTP_202_ACCEPTED, responses={409: {}})
@requires(Scope.ORGS_READ, action=ACTIONS, person=True)
async def deny_request(
    context: Current, orgId: UUID, approvalId: UUID, body: ApprovalDeny, response: Response
) -> ApprovalDecided:
    """Deny a request as the second person, with the same permissions as for an approval.

    The request ends as `denied`, and objects it has created end with it.
    """
    return accepted(response, orgId, ApprovalDecided.of(await service.deny(context, approvalId, body.reason)))


@router.post("/{approvalId}/withdraw", status_code=status.HTTP_202_ACCEPTED, responses={409: {}})
@requires(Scope.ORGS_READ, person=True)
async def withdraw_request(
    context: Current, orgId: UUID, approvalId: UUID, response: Response, body: ApprovalWithdraw | None = None
) -> ApprovalDecided:
    """Withdraw a request that waits for a second person, as the signed-in person who made it, or who created the API
    key that did.

    The request ends as `denied`, and objects it has created end with it. A decided request is a 409 that names who
    decided; one that was withdrawn before is returned as it is.
    """
    reason = body.reason if body else None
    return accepted(response, orgId, ApprovalDecided.of(await service.withdraw(context, approvalId, reason)))
