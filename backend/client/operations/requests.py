"""Requests. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.requests.schemas import Request, RequestList, RequestStatus


class RequestsOperations(Connection):
    """Requests."""

    def list_requests(
        self,
        org_id: Id,
        *,
        status: RequestStatus | None = None,
        subject: Id | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[RequestList, Request]:
        """Accepted operations, newest first, with their steps.

        Scope: `orgs:read`.
        """
        return self._pages(
            RequestList,
            "requests",
            path("/orgs/{}/requests", org_id),
            {"status": status, "subject": subject, "limit": limit, "cursor": cursor},
        )

    async def get_request(self, org_id: Id, request_id: Id) -> Request:
        """One operation with its steps and transactions.

        Scope: `orgs:read`.
        """
        return await self._send(Request, "GET", path("/orgs/{}/requests/{}", org_id, request_id))

    async def retry_request(self, org_id: Id, request_id: Id, *, idempotency_key: str | None = None) -> Request:
        """Run a failed operation again; what it had done already is not done twice.

        Scope: `orgs:read`, and that of the action: `orgs:write` or `members:write` or `assets:write` or
        `attestations:write` or `transfers:write`.
        """
        return await self._send(
            Request, "POST", path("/orgs/{}/requests/{}/retry", org_id, request_id), key=idempotency_key or new_key()
        )

    def list_requests_csv(
        self, org_id: Id, *, status: RequestStatus | None = None, subject: Id | None = None
    ) -> Download:
        """`/orgs/{orgId}/requests` as CSV: every record that its filters leave, in one stream.

        Scope: `orgs:read`.
        """
        return self._download(path("/orgs/{}/requests.csv", org_id), query={"status": status, "subject": subject})
