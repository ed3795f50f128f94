"""`/v1/orgs/{orgId}/search`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from backend.auth.guard import Current, GuardedRoute, from_replica, requires
from backend.auth.scopes import Scope
from backend.core.pagination import limit_of
from backend.search import service
from backend.search.schemas import SearchResults, Words

ABOUT = (
    "Part of a name, symbol or email, or words of it in any order; accents do not matter. The beginning of an ID, "
    "address or hash, or its shortened form: `0xB419…9e91`."
)
# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/search", tags=["Search"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ORGS_READ)
@from_replica
async def search_organization(
    context: Current,
    orgId: UUID,
    q: Annotated[Words, Query(description=ABOUT)],
    limit: Annotated[str | None, Query(max_length=20, description="Default 50; above 100 means 100.")] = None,
) -> SearchResults:
    """Search this organization and those below. Best matches first: an exact name, a prefix, a word, a part, its
    words in another order. Each kind is searched only if the caller has the scope of its list; at most 8 results of a
    kind. Chains are those of the organization's network."""
    return await service.search(context, q, limit_of(limit))
