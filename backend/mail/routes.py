"""`/v1/orgs/{orgId}/outbox`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends

from backend.auth.route import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.keyset import Page
from backend.mail import service
from backend.mail.schemas import Outbox

router = APIRouter(prefix="/orgs/{orgId}", tags=["Mail"], route_class=GuardedRoute)


@router.get("/outbox", responses={404: {}})
@requires(Scope.MEMBERS_WRITE)
async def list_outbox(context: Current, orgId: UUID, page: Annotated[Page, Depends()]) -> Outbox:
    """Mails of this organization, newest first, and whether they were sent. Where no mail server is set, an embedded
    installation shows their text here instead, but for what only its recipient may read; any other answers 404."""
    return await service.page(context, page)
