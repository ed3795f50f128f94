"""`/v1/memberships`: what the signed-in person has been added to."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, status

from backend.auth.route import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.keyset import Page
from backend.memberships import service
from backend.memberships.schemas import Membership, PendingMembershipList

router = APIRouter(prefix="/memberships", tags=["Members"], route_class=GuardedRoute)


@router.get("/pending")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_pending_memberships(context: Current, page: Annotated[Page, Depends()]) -> PendingMembershipList:
    """Organizations that have added the person, by their id or by a wallet they have signed in with or linked, and wait
    for them to agree. Newest first."""
    return await service.page(context, page)


@router.post("/{membershipId}/accept", responses={404: {}, 409: {}})
@requires(organization=ANY_ORGANIZATION, person=True, fresh=True)
async def accept_membership(context: Current, membershipId: UUID) -> Membership:
    """Agree to a membership that waits: it begins, and the organization sees the person's name, email and wallets.

    409 after 7 days, and where the person, key or application that added them may not grant the role any more. The
    organization adds them again."""
    return await service.accept(context, membershipId)


@router.post("/{membershipId}/decline", status_code=status.HTTP_204_NO_CONTENT, responses={404: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def decline_membership(context: Current, membershipId: UUID) -> None:
    """Refuse a membership that waits: it ends, and the organization does not learn who refused."""
    await service.decline(context, membershipId)
