"""`/v1/memberships`: the signed-in person's pending memberships."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, status

from backend.auth.guard import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.lists.pages import Page
from backend.memberships import service
from backend.memberships.schemas import Membership, PendingMembershipList

# Declared at import.
router = APIRouter(prefix="/memberships", tags=["Members"], route_class=GuardedRoute)


@router.get("/pending")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_pending_memberships(
    context: Current, page: Annotated[Page, Depends(service.LIST.page)]
) -> PendingMembershipList:
    """List organizations that added the signed-in person, by user ID or by a wallet they signed in with or linked, and
    wait for them to agree. Newest first."""
    return await service.page(context, page)


@router.post("/{membershipId}/accept", responses={404: {}, 409: {}})
@requires(organization=ANY_ORGANIZATION, person=True, fresh=True)
async def accept_membership(context: Current, membershipId: UUID) -> Membership:
    """Accept a pending membership: it becomes active, and the organization sees the person's name, email and wallets.

    409 after 7 days, and if the person, key or application that added them may no longer grant the role. The
    organization must then add them again."""
    return await service.accept(context, membershipId)


@router.post("/{membershipId}/decline", status_code=status.HTTP_204_NO_CONTENT, responses={404: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def decline_membership(context: Current, membershipId: UUID) -> None:
    """Decline a pending membership: it ends, and the organization does not learn who declined."""
    await service.decline(context, membershipId)
