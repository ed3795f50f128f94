"""Members. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.members.schemas import (
    Eligibility,
    EligibilityCheck,
    Member,
    MemberAccepted,
    MemberCreate,
    MemberList,
    MemberPlan,
    MemberStatus,
    MemberUpdate,
    Role,
)
from backend.memberships.schemas import Membership, PendingMembership, PendingMembershipList


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

    @overload
    async def add_member(
        self, org_id: Id, body: MemberCreate, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> MemberPlan: ...

    @overload
    async def add_member(
        self, org_id: Id, body: MemberCreate, *, dry_run: Literal[False] = False, idempotency_key: str | None = None
    ) -> Member | MemberAccepted: ...

    async def add_member(
        self, org_id: Id, body: MemberCreate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> Member | MemberAccepted | MemberPlan:
        """Add an existing user by `user_id`, or whoever has a wallet by `wallet_address`.

        Who is in the organization's own tree already, as far as the caller sees it, is a member at once.
        Everybody else is asked: the membership is `pending` and gives no rights until they agree by POST
        /v1/memberships/{membershipId}/accept, and until then shows only what is given here; `email` and
        `display_name` say who is meant. A user id and a wallet are not checked for whether anybody has them.
        Clients have no API access.

        The caller holds every scope of the role that it grants, and only a signed-in admin adds an admin. Where
        the organization, or one below it, requires a second person for any action, adding an admin, a compliance
        officer or a member waits for one (202).

        Scope: `orgs:write` or `members:write`.
        """
        return await self._send_by_status(
            {200: MemberPlan, 201: Member, 202: MemberAccepted},
            "POST",
            path("/orgs/{}/members", org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def change_member(
        self,
        org_id: Id,
        member_id: Id,
        body: MemberUpdate,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> MemberPlan: ...

    @overload
    async def change_member(
        self,
        org_id: Id,
        member_id: Id,
        body: MemberUpdate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> Member | MemberAccepted: ...

    async def change_member(
        self,
        org_id: Id,
        member_id: Id,
        body: MemberUpdate,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> Member | MemberAccepted | MemberPlan:
        """Change a member's role. The organization's own last admin stays one.

        The caller holds every scope of the new role; only a signed-in admin grants or takes the admin role. A
        change that lets a person approve, or takes that from them, waits for a second person (202) where the
        organization, or one below it, requires one for any action.

        Scope: `members:write`.
        """
        return await self._send_by_status(
            {200: MemberPlan if dry_run else Member, 202: MemberAccepted},
            "PATCH",
            path("/orgs/{}/members/{}", org_id, member_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def remove_member(self, org_id: Id, member_id: Id, *, dry_run: Literal[True]) -> MemberPlan: ...

    @overload
    async def remove_member(
        self, org_id: Id, member_id: Id, *, dry_run: Literal[False] = False
    ) -> MemberAccepted | None: ...

    async def remove_member(
        self, org_id: Id, member_id: Id, *, dry_run: bool = False
    ) -> MemberAccepted | MemberPlan | None:
        """End a membership. The organization's own last admin stays.

        It waits for a second person (202) where the organization asks for it (`member.remove`), and for an
        admin, a compliance officer or a member where it requires one for any action: nobody removes alone those
        who would have to agree.

        Scope: `members:write`.
        """
        return await self._send_by_status(
            {200: MemberPlan, 202: MemberAccepted, 204: type(None)},
            "DELETE",
            path("/orgs/{}/members/{}", org_id, member_id),
            query={"dry_run": dry_run or None},
        )

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

    def list_pending_memberships(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[PendingMembershipList, PendingMembership]:
        """Organizations that have added the person, by their id or by a wallet they have signed in with or linked,
        and wait for them to agree. Newest first.
        """
        return self._pages(
            PendingMembershipList, "memberships", "/memberships/pending", {"limit": limit, "cursor": cursor}
        )

    async def accept_membership(self, membership_id: Id, *, idempotency_key: str | None = None) -> Membership:
        """Agree to a membership that waits: it begins, and the organization sees the person's name, email and
        wallets.

        409 after 7 days, and where the person, key or application that added them may not grant the role any
        more. The organization adds them again.
        """
        return await self._send(
            Membership, "POST", path("/memberships/{}/accept", membership_id), key=idempotency_key or new_key()
        )

    async def decline_membership(self, membership_id: Id, *, idempotency_key: str | None = None) -> None:
        """Refuse a membership that waits: it ends, and the organization does not learn who refused."""
        await self._do("POST", path("/memberships/{}/decline", membership_id), key=idempotency_key or new_key())

    def list_pending_memberships_csv(self) -> Download:
        """`/memberships/pending` as CSV: every record that its filters leave, in one stream."""
        return self._download("/memberships/pending.csv")
