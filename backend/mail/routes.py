"""`/v1/orgs/{orgId}/outbox`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.lists.pages import Page
from backend.mail import service
from backend.mail.schemas import Outbox

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}", tags=["Mail"], route_class=GuardedRoute)


@router.get("/outbox", responses={404: {}})
@requires(Scope.MEMBERS_WRITE)
async def list_outbox(context: Current, orgId: UUID, page: Annotated[Page, Depends(service.LIST.page)]) -> Outbox:
    """List the emails of this organization, newest first, with their delivery status.

    Where no mail server is set, an embedded installation shows their text here instead, except private texts. Admins of
    the operator's organization, the first one, who have signed in themselves, also see invitations of the organizations
    that they administer. Any other installation without a mail server returns 404.
    """
    return await service.page(context, page)
