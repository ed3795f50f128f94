"""`/v1/orgs/{orgId}/members`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, status

from backend.auth import rate_limit
from backend.auth.route import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.fields import Search
from backend.keyset import Page
from backend.members import eligibility, service
from backend.members.schemas import (
    Eligibility,
    EligibilityCheck,
    Member,
    MemberCreate,
    MemberList,
    MemberStatus,
    MemberUpdate,
    Role,
)

router = APIRouter(prefix="/orgs/{orgId}/members", tags=["Members"], route_class=GuardedRoute)


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


@router.post("", status_code=status.HTTP_201_CREATED)
@requires(Scope.ORGS_WRITE, Scope.MEMBERS_WRITE)
async def add_member(context: Current, orgId: UUID, body: MemberCreate) -> Member:
    """Add an existing user by `user_id`, or whoever has a wallet by `wallet_address`.

    Where nobody has the wallet, a placeholder user is made with it; `email` and `display_name` then say who is meant.
    Clients have no API access. Only admins can grant the admin role.
    """
    return await service.add(context, body)


@router.patch("/{memberId:uuid}")
@requires(Scope.MEMBERS_WRITE)
async def change_member(context: Current, orgId: UUID, memberId: UUID, body: MemberUpdate) -> Member:
    """Change a member's role. The organization's own last admin stays one."""
    return await service.change_role(context, memberId, body.role)


@router.delete("/{memberId:uuid}", status_code=status.HTTP_204_NO_CONTENT, responses={409: {}})
@requires(Scope.MEMBERS_WRITE)
async def remove_member(context: Current, orgId: UUID, memberId: UUID) -> None:
    """End a membership. The organization's own last admin stays."""
    await service.remove(context, memberId)


@router.post("/invite-eligibility")
@requires(Scope.MEMBERS_READ)
async def check_eligibility(context: Current, orgId: UUID, body: EligibilityCheck) -> Eligibility:
    """What stands against inviting up to 50 addresses. Nothing is blocked: problems are warnings, the gravest first.

    Known are this organization's own members, invitations and parties. 30 calls a minute and organization.
    """
    await rate_limit.hit(rate_limit.ELIGIBILITY, "eligibility", str(orgId))
    return await eligibility.check(context, body)
