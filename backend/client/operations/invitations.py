"""Invitations. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.invitations.schemas import (
    Invitation,
    InvitationAccept,
    InvitationAccepted,
    InvitationCreate,
    InvitationList,
    InvitationPlan,
    InvitationPreview,
    InvitationRevoked,
    InvitationStatus,
    InvitationToken,
    InvitationWaiting,
)


class InvitationsOperations(Connection):
    """Invitations."""

    def list_invitations(
        self, org_id: Id, *, status: InvitationStatus | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pages[InvitationList, Invitation]:
        """Invitations, newest first.

        Scope: `members:read`.
        """
        return self._pages(
            InvitationList,
            "invitations",
            path("/orgs/{}/invitations", org_id),
            {"status": status, "limit": limit, "cursor": cursor},
        )

    @overload
    async def invite(
        self, org_id: Id, body: InvitationCreate, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> InvitationPlan: ...

    @overload
    async def invite(
        self, org_id: Id, body: InvitationCreate, *, dry_run: Literal[False] = False, idempotency_key: str | None = None
    ) -> Invitation | InvitationWaiting: ...

    async def invite(
        self, org_id: Id, body: InvitationCreate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> Invitation | InvitationWaiting | InvitationPlan:
        """Invite an address by mail; the link works once, for 7 days.

        The caller holds every scope of the role, and only a signed-in admin invites an admin. Where the
        organization, or one below it, requires a second person for any action, inviting an admin, a compliance
        officer or a member waits for one (202), and the mail is sent once they agree.

        The link is in the mail alone, because whoever has it joins in the name of who was invited. Where no mail
        server is set, the operator reads it with `signum outbox`.

        Scope: `members:write`.
        """
        return await self._send_by_status(
            {200: InvitationPlan, 201: Invitation, 202: InvitationWaiting},
            "POST",
            path("/orgs/{}/invitations", org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def revoke_invitation(self, org_id: Id, invitation_id: Id) -> InvitationRevoked:
        """Revoke a pending invitation; any other is a 400.

        Scope: `members:write`.
        """
        return await self._send(InvitationRevoked, "DELETE", path("/orgs/{}/invitations/{}", org_id, invitation_id))

    async def preview_invitation(
        self, body: InvitationToken, *, idempotency_key: str | None = None
    ) -> InvitationPreview:
        """What an invitation is, by the token of its mail; nothing changes. The token is in the body, so in no log."""
        return await self._send(
            InvitationPreview, "POST", "/invitations/preview", body=body, key=idempotency_key or new_key()
        )

    async def accept_invitation(
        self, body: InvitationAccept, *, idempotency_key: str | None = None
    ) -> InvitationAccepted:
        """Accept an invitation with the token of its mail.

        A signed-in person whose address was invited joins; without a credential, name and password make an
        account. 409 where the person, key or application that invited them may not grant the role any more.
        """
        return await self._send(
            InvitationAccepted, "POST", "/invitations/accept", body=body, key=idempotency_key or new_key()
        )

    def list_invitations_csv(self, org_id: Id, *, status: InvitationStatus | None = None) -> Download:
        """`/orgs/{orgId}/invitations` as CSV: every record that its filters leave, in one stream.

        Scope: `members:read`.
        """
        return self._download(path("/orgs/{}/invitations.csv", org_id), query={"status": status})
