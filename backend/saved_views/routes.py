"""`/v1/orgs/{orgId}/saved-views`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, status

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.lists.pages import Page
from backend.saved_views import service
from backend.saved_views.schemas import PageName, SavedView, SavedViewCreate, SavedViewList

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/saved-views", tags=["Organizations"], route_class=GuardedRoute)
OWN = "A saved view belongs to a person."


@router.get("")
@requires(Scope.ORGS_READ, person=True, because=OWN)
async def list_saved_views(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(service.LIST.page)],
    of: Annotated[PageName | None, Query(alias="page", description="Only views of this list.")] = None,
) -> SavedViewList:
    """List your saved views of lists, newest first."""
    return await service.page(context, page, of)


@router.post("", status_code=status.HTTP_201_CREATED, responses={409: {}})
@requires(Scope.ORGS_READ, person=True, because=OWN)
async def save_view(context: Current, orgId: UUID, body: SavedViewCreate) -> SavedView:
    """Save a view of a list: its filters, search and sort under a name. Only you see it; at most 50 for each
    organization."""
    return await service.create(context, body)


@router.delete("/{viewId}", status_code=status.HTTP_204_NO_CONTENT)
@requires(Scope.ORGS_READ, person=True, because=OWN)
async def delete_view(context: Current, orgId: UUID, viewId: UUID) -> None:
    """Delete one of your saved views."""
    await service.delete(context, viewId)
