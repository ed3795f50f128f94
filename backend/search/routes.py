"""`/v1/orgs/{orgId}/search`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from backend.auth.route import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.keyset import limit_of
from backend.search import service
from backend.search.schemas import SearchResults, Words

router = APIRouter(prefix="/orgs/{orgId}/search", tags=["Search"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ORGS_READ)
async def search_organization(
    context: Current,
    orgId: UUID,
    q: Annotated[Words, Query(description="Part of a name, symbol or email; the beginning of an id, address or hash.")],
    limit: Annotated[str | None, Query(max_length=20, description="Default 50; above 100 means 100.")] = None,
) -> SearchResults:
    """Whatever fits in this organization and those below, best first: an exact name, one that begins so, a word, a
    part. Each kind is looked through only where the caller has the scope of its list; at most 8 of a kind."""
    return await service.search(context, q, limit_of(limit))
