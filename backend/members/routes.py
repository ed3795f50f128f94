"""`/v1/orgs/{orgId}/members`."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.core.fields import Acceptance
from backend.limits import rate_limits
from backend.lists.pages import Page
from backend.members import addition, changes, eligibility, service
from backend.members.schemas import (
    Eligibility,
    EligibilityCheck,
    Member,
    MemberAccepted,
    MemberAdded,
    MemberCreate,
    MemberList,
    MemberPlan,
    MemberUpdate,
)
from backend.requests.responses import planned, waiting
from backend.users.schemas import MemberStatus, Role

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/members", tags=["Members"], route_class=GuardedRoute)
WAITING: dict[str, Any] = {"model": MemberAccepted, "description": "The request waits for a second person."}
ADDING: dict[str, Any] = {
    "model": Acceptance,
    "description": "The request waits for a second person; the member exists after their approval.",
}


@router.get("")
@requires(Scope.MEMBERS_READ)
async def list_members(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(service.LIST.page)],
    role: Role | None = None,
    status: MemberStatus | None = None,
) -> MemberList:
    """List members, newest first."""
    return await service.page(context, page, role, status)


@router.post(
    "",
    status_code=status.HTTP_201_CREATED,
    response_model=MemberAdded | MemberPlan,
    responses={202: ADDING, 409: {}},
)
@requires(Scope.ORGS_WRITE, Scope.MEMBERS_WRITE, fresh=True)
async def add_member(
    context: Current, orgId: UUID, body: MemberCreate, response: Response, dry_run: DryRun = False
) -> MemberAdded | MemberPlan | Response:
    """Add an existing user by `user_id`, or the owner of a wallet by `wallet_address`.

    A person in the organization's own tree, as far as the caller can see it, becomes a member immediately. Any other
    person is asked: the membership is `pending` and gives no rights until they agree by the call in `acceptance`, POST
    /v1/memberships/{membershipId}/accept. Until then it shows only what is given here; `email` and `display_name` say
    who is meant. User IDs and wallets are not checked for existence. `chain_eid` is an EVM chain of the organization's
    network. Clients have no API access.

    The caller must hold every scope of the role; only a signed-in admin adds an admin. If the organization, or one
    below it, requires a second person for any action, adding an admin, a compliance officer or a member waits for one
    (202).
    """
    if dry_run:
        return planned(response, await addition.plan(context, body))
    answer = await addition.add(context, body)
    return waiting(orgId, answer) if isinstance(answer, Acceptance) else answer


@router.get("/{memberId:uuid}")
@requires(Scope.MEMBERS_READ)
async def get_member(context: Current, orgId: UUID, memberId: UUID) -> Member:
    """Get a member."""
    return await service.one(context, memberId)


@router.patch("/{memberId:uuid}", response_model=Member | MemberPlan, responses={202: WAITING})
@requires(Scope.MEMBERS_WRITE, fresh=True)
async def change_member(
    context: Current, orgId: UUID, memberId: UUID, body: MemberUpdate, dry_run: DryRun = False
) -> Member | MemberPlan | Response:
    """Change a member's role. The organization's last own admin cannot lose the admin role.

    The caller must hold every scope of the new role; only a signed-in admin grants or takes the admin role. A change
    that gives or takes the right to approve waits for a second person (202) if the organization, or one below it,
    requires one for any action.
    """
    if dry_run:
        return await changes.role_plan(context, memberId, body.role)
    answer = await changes.change_role(context, memberId, body.role)
    return waiting(orgId, answer) if isinstance(answer, MemberAccepted) else answer


@router.delete(
    "/{memberId:uuid}",
    status_code=status.HTTP_204_NO_CONTENT,
    response_model=None,
    responses={
        200: {"model": MemberPlan, "description": "The plan of a dry run; nothing was changed."},
        202: WAITING,
        409: {},
    },
)
@requires(Scope.MEMBERS_WRITE, fresh=True)
async def remove_member(
    context: Current, orgId: UUID, memberId: UUID, response: Response, dry_run: DryRun = False
) -> MemberPlan | Response | None:
    """End a membership. The organization's last own admin cannot be removed.

    The removal waits for a second person (202) if the organization requires one for `member.remove`. For an admin, a
    compliance officer or a member, it also waits if the organization requires one for any action, so that no one
    removes potential approvers alone.
    """
    if dry_run:
        return planned(response, await changes.removal_plan(context, memberId))
    answer = await changes.remove(context, memberId)
    return waiting(orgId, answer) if answer else None


@router.post("/invite-eligibility")
@requires(Scope.MEMBERS_READ)
async def check_eligibility(context: Current, orgId: UUID, body: EligibilityCheck) -> Eligibility:
    """Check up to 50 addresses before inviting them. Nothing is blocked: problems are warnings, the most severe first.

    The check knows this organization's own members, invitations and parties. Limit: 30 calls a minute per organization.
    """
    await rate_limits.hit(rate_limits.ELIGIBILITY, "eligibility", str(orgId))
    return await eligibility.check(context, body)
