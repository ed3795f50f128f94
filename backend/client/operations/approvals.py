"""Approvals. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.approvals.schemas import (
    Approval,
    ApprovalDeny,
    ApprovalDetail,
    ApprovalList,
    PolicyAccepted,
    PolicyChange,
    PolicyPlan,
)
from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.requests.schemas import ApprovalStatus


class ApprovalsOperations(Connection):
    """Approvals."""

    def list_approvals(
        self,
        org_id: Id,
        *,
        status: ApprovalStatus | None = None,
        can_decide: bool | None = None,
        asked_by: Id | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[ApprovalList, Approval]:
        """What waits, or waited, for a second person; newest first.

        Scope: `orgs:read`.
        """
        return self._pages(
            ApprovalList,
            "approvals",
            path("/orgs/{}/approvals", org_id),
            {"status": status, "can_decide": can_decide, "asked_by": asked_by, "limit": limit, "cursor": cursor},
        )

    @overload
    async def change_approval_policy(
        self, org_id: Id, body: PolicyChange, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> PolicyPlan: ...

    @overload
    async def change_approval_policy(
        self, org_id: Id, body: PolicyChange, *, dry_run: Literal[False] = False, idempotency_key: str | None = None
    ) -> PolicyAccepted: ...

    async def change_approval_policy(
        self, org_id: Id, body: PolicyChange, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> PolicyAccepted | PolicyPlan:
        """Ask for a change of the actions that need a second person, of the hours for which a new approver waits,
        of the requirement of a second factor, or of the allowed IP ranges. Only a person asks for other ranges.

        Another person with orgs:write has to approve it, so nobody can lift alone what binds them. A PATCH of
        the organization adds actions and lengthens the wait at once.

        Scope: `orgs:write`.
        """
        return await self._send(
            PolicyPlan if dry_run else PolicyAccepted,
            "POST",
            path("/orgs/{}/approvals", org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_approval(self, org_id: Id, approval_id: Id) -> ApprovalDetail:
        """One approval, with what the action would do if it were approved now, or why it cannot be done.

        Scope: `orgs:read`.
        """
        return await self._send(ApprovalDetail, "GET", path("/orgs/{}/approvals/{}", org_id, approval_id))

    async def approve_request(
        self, org_id: Id, approval_id: Id, *, idempotency_key: str | None = None
    ) -> ApprovalDetail:
        """Agree as the second person: needs a signed-in person who is not who asked (nor made the API key that
        asked), who had their role before it was asked, was neither added nor promoted by who asked, and signs in
        with none of their wallets. Everything is checked again, also that who asked may still do it; what does
        not hold any more is a 409 and leaves it waiting. Where it was decided already, a 409 says by whom.

        Scope: `orgs:read`, and that of the action: `orgs:write` or `members:write` or `assets:write` or
        `attestations:write` or `transfers:write`.
        """
        return await self._send(
            ApprovalDetail,
            "POST",
            path("/orgs/{}/approvals/{}/approve", org_id, approval_id),
            key=idempotency_key or new_key(),
        )

    async def deny_request(
        self, org_id: Id, approval_id: Id, body: ApprovalDeny, *, idempotency_key: str | None = None
    ) -> ApprovalDetail:
        """Refuse as the second person, by the same right as an approval. The request ends as `denied`, and what it
        had written ends with it.

        Scope: `orgs:read`, and that of the action: `orgs:write` or `members:write` or `assets:write` or
        `attestations:write` or `transfers:write`.
        """
        return await self._send(
            ApprovalDetail,
            "POST",
            path("/orgs/{}/approvals/{}/deny", org_id, approval_id),
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_approvals_csv(
        self,
        org_id: Id,
        *,
        status: ApprovalStatus | None = None,
        can_decide: bool | None = None,
        asked_by: Id | None = None,
    ) -> Download:
        """`/orgs/{orgId}/approvals` as CSV: every record that its filters leave, in one stream.

        Scope: `orgs:read`.
        """
        return self._download(
            path("/orgs/{}/approvals.csv", org_id),
            query={"status": status, "can_decide": can_decide, "asked_by": asked_by},
        )
