"""`/v1/orgs/{orgId}/members`."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status
from fastapi.responses import JSONResponse

from backend.auth import rate_limit
from backend.auth.route import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.fields import Search
from backend.keyset import Page
from backend.members import adding, changing, eligibility, service
from backend.members.schemas import (
    Eligibility,
    EligibilityCheck,
    Member,
    MemberAccepted,
    MemberCreate,
    MemberList,
    MemberPlan,
    MemberStatus,
    MemberUpdate,
    Role,
)

router = APIRouter(prefix="/orgs/{orgId}/members", tags=["Members"], route_class=GuardedRoute)
WAITING: dict[str, Any] = {"model": MemberAccepted, "description": "It waits for a second person."}


@router.get("")
@requires(Scope.MEMBERS_READ)
async def list_members(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends()],
    search: Search | None = None,
    role: Role | None = None,
    status: MemberStatus | None = None,
) -> MemberList:
    """Members, newest first. `search` finds a part of a name, an email or a wallet's address."""
    return await service.page(context, page, search, role, status)


@router.post(
    "",
    status_code=status.HTTP_201_CREATED,
    response_model=Member | MemberPlan,
    responses={202: WAITING, 409: {}},
)
@requires(Scope.ORGS_WRITE, Scope.MEMBERS_WRITE, fresh=True)
async def add_member(
    context: Current, orgId: UUID, body: MemberCreate, response: Response, dry_run: DryRun = False
) -> Member | MemberPlan | Response:
    """Add an existing user by `user_id`, or whoever has a wallet by `wallet_address`.

    Who is in the organization's own tree already, as far as the caller sees it, is a member at once. Everybody else
    is asked: the membership is `pending` and gives no rights until they agree by POST
    /v1/memberships/{membershipId}/accept, and until then shows only what is given here; `email` and `display_name` say
    who is meant. A user id and a wallet are not checked for whether anybody has them. Clients have no API access.

    The caller holds every scope of the role that it grants, and only a signed-in admin adds an admin. Where the
    organization, or one below it, requires a second person for any action, adding an admin, a compliance officer or a
    member waits for one (202).
    """
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await adding.plan(context, body)
    answer = await adding.add(context, body)
    return _waiting(answer, orgId) if isinstance(answer, MemberAccepted) else answer


@router.patch("/{memberId:uuid}", response_model=Member | MemberPlan, responses={202: WAITING})
@requires(Scope.MEMBERS_WRITE, fresh=True)
async def change_member(
    context: Current, orgId: UUID, memberId: UUID, body: MemberUpdate, dry_run: DryRun = False
) -> Member | MemberPlan | Response:
    """Change a member's role. The organization's own last admin stays one.

    The caller holds every scope of the new role; only a signed-in admin grants or takes the admin role. A change that
    lets a person approve, or takes that from them, waits for a second person (202) where the organization, or one below
    it, requires one for any action.
    """
    if dry_run:
        return await changing.role_plan(context, memberId, body.role)
    answer = await changing.change_role(context, memberId, body.role)
    return _waiting(answer, orgId) if isinstance(answer, MemberAccepted) else answer


@router.delete(
    "/{memberId:uuid}",
    status_code=status.HTTP_204_NO_CONTENT,
    response_model=None,
    responses={
        200: {"model": MemberPlan, "description": "The plan of a dry run; nothing was done."},
        202: WAITING,
        409: {},
    },
)
@requires(Scope.MEMBERS_WRITE, fresh=True)
async def remove_member(
    context: Current, orgId: UUID, memberId: UUID, response: Response, dry_run: DryRun = False
) -> MemberPlan | Response | None:
    """End a membership. The organization's own last admin stays.

    It waits for a second person (202) where the organization asks for it (`member.remove`), and for an admin, a
    compliance officer or a member where it requires one for any action: nobody removes alone those who would have to
    agree.
    """
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await changing.removal_plan(context, memberId)
    accepted = await changing.remove(context, memberId)
    return _waiting(accepted, orgId) if accepted else None


def _waiting(accepted: MemberAccepted, organization_id: UUID) -> Response:
    headers = {"Location": f"/v1/orgs/{organization_id}/requests/{accepted.request_id}"}
    return JSONResponse(accepted.model_dump(mode="json", by_alias=True), status.HTTP_202_ACCEPTED, headers)


@router.post("/invite-eligibility")
@requires(Scope.MEMBERS_READ)
async def check_eligibility(context: Current, orgId: UUID, body: EligibilityCheck) -> Eligibility:
    """What stands against inviting up to 50 addresses. Nothing is blocked: problems are warnings, the gravest first.

    Known are this organization's own members, invitations and parties. 30 calls a minute and organization.
    """
    await rate_limit.hit(rate_limit.ELIGIBILITY, "eligibility", str(orgId))
    return await eligibility.check(context, body)
