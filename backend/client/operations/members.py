"""Members. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.members.schemas import (
    Eligibility,
    EligibilityCheck,
    Member,
    MemberCreate,
    MemberList,
    MemberStatus,
    MemberUpdate,
    Role,
)


class MembersOperations(Connection):
    """Members."""

    def list_members(
        self,
        org_id: Id,
        *,
        search: str | None = None,
        role: Role | None = None,
        status: MemberStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[MemberList, Member]:
        """Members, newest first. `search` finds a part of a name, an email or a wallet's address.

        Scope: `members:read`.
        """
        return self._pages(
            MemberList,
            "members",
            path("/orgs/{}/members", org_id),
            {"search": search, "role": role, "status": status, "limit": limit, "cursor": cursor},
        )

    async def add_member(self, org_id: Id, body: MemberCreate, *, idempotency_key: str | None = None) -> Member:
        """Add an existing user by `user_id`, or whoever has a wallet by `wallet_address`.

        Where nobody has the wallet, a placeholder user is made with it; `email` and `display_name` then say who
        is meant. Clients have no API access. Only admins can grant the admin role.

        Scope: `orgs:write` or `members:write`.
        """
        return await self._send(
            Member, "POST", path("/orgs/{}/members", org_id), body=body, key=idempotency_key or new_key()
        )

    async def change_member(
        self, org_id: Id, member_id: Id, body: MemberUpdate, *, idempotency_key: str | None = None
    ) -> Member:
        """Change a member's role. The organization's own last admin stays one.

        Scope: `members:write`.
        """
        return await self._send(
            Member, "PATCH", path("/orgs/{}/members/{}", org_id, member_id), body=body, key=idempotency_key or new_key()
        )

    async def remove_member(self, org_id: Id, member_id: Id) -> None:
        """End a membership. The organization's own last admin stays.

        Scope: `members:write`.
        """
        await self._do("DELETE", path("/orgs/{}/members/{}", org_id, member_id))

    async def check_eligibility(
        self, org_id: Id, body: EligibilityCheck, *, idempotency_key: str | None = None
    ) -> Eligibility:
        """What stands against inviting up to 50 addresses. Nothing is blocked: problems are warnings, the gravest
        first.

        Known are this organization's own members, invitations and parties. 30 calls a minute and organization.

        Scope: `members:read`.
        """
        return await self._send(
            Eligibility,
            "POST",
            path("/orgs/{}/members/invite-eligibility", org_id),
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_members_csv(
        self, org_id: Id, *, search: str | None = None, role: Role | None = None, status: MemberStatus | None = None
    ) -> Download:
        """`/orgs/{orgId}/members` as CSV: every record that its filters leave, in one stream.

        Scope: `members:read`.
        """
        return self._download(
            path("/orgs/{}/members.csv", org_id), query={"search": search, "role": role, "status": status}
        )
