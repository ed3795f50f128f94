"""Search. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.search.schemas import SearchResults


class SearchOperations(Connection):
    """Search."""

    async def search_organization(self, org_id: Id, *, q: str, limit: int | None = None) -> SearchResults:
        """Whatever fits in this organization and those below, best first: an exact name, one that begins so, a
        word, a part. Each kind is looked through only where the caller has the scope of its list; at most 8 of a
        kind.

        Scope: `orgs:read`.
        """
        return await self._send(SearchResults, "GET", path("/orgs/{}/search", org_id), query={"q": q, "limit": limit})

    def search_organization_csv(self, org_id: Id, *, q: str) -> Download:
        """`/orgs/{orgId}/search` as CSV: every record that its filters leave, in one stream.

        Scope: `orgs:read`.
        """
        return self._download(path("/orgs/{}/search.csv", org_id), query={"q": q})
