"""Invitations. Made by `make client` from backend/openapi.json."""

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
    InvitationPreview,
    InvitationRevoked,
    InvitationStatus,
    InvitationToken,
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

    async def invite(self, org_id: Id, body: InvitationCreate, *, idempotency_key: str | None = None) -> Invitation:
        """Invite an address by mail; the link works once, for 7 days. Only admins can invite admins.

        The link is in the mail alone, because whoever has it joins in the name of who was invited. Where no mail
        server is set, the operator reads it with `signum outbox`.

        Scope: `members:write`.
        """
        return await self._send(
            Invitation, "POST", path("/orgs/{}/invitations", org_id), body=body, key=idempotency_key or new_key()
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
        account.
        """
        return await self._send(
            InvitationAccepted, "POST", "/invitations/accept", body=body, key=idempotency_key or new_key()
        )

    def list_invitations_csv(self, org_id: Id, *, status: InvitationStatus | None = None) -> Download:
        """`/orgs/{orgId}/invitations` as CSV: every record that its filters leave, in one stream.

        Scope: `members:read`.
        """
        return self._download(path("/orgs/{}/invitations.csv", org_id), query={"status": status})
