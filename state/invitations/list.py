"""Invitations to an organization."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.client import body
from backend.core.fields import Acceptance
from backend.invitations.schemas import InvitationCreate, InvitationStatus, SentInvitation
from state.core.arguments import chosen
from state.core.dates import stamp
from state.core.dialogs import Removes
from state.core.events import Next
from state.core.paging import ByStatus, Listed


@dataclass
class InvitationView:
    """An invitation."""

    id: str = ""
    email: str = ""
    role: str = ""
    status: str = ""
    delivery: str = ""
    expires_at: str = ""
    created_at: str = ""


class InvitationsState(ByStatus, rx.State):
    """The list of invitations, in keyset pages."""

    rows: list[InvitationView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _table: ClassVar[str] = "invitations_"
    _statuses = InvitationStatus

    async def _fetch(self, cursor: str) -> str | None:
        status = chosen(InvitationStatus, self.status)
        page = await self._api.list_invitations(self._org_id(), status=status, cursor=cursor or None, **self._order())
        self.rows = [invitation_view(invitation) for invitation in page.invitations]
        return page.nextCursor


class Revocation(Removes, rx.State):
    """The confirmation before an invitation is revoked."""

    about: InvitationView = InvitationView()

    def _list(self) -> type[Listed]:
        return InvitationsState

    async def _remove(self) -> Next:
        await self._api.revoke_invitation(self._org_id(), self.about.id)
        return InvitationsState.reload

    def _words(self) -> tuple[str, str]:
        return "Invitation revoked", f"The link sent to {self.about.email} no longer works."


class Renewal(Removes, rx.State):
    """The confirmation before a person whose invitation has ended is invited again."""

    about: InvitationView = InvitationView()
    _waiting: bool = False

    def _list(self) -> type[Listed]:
        return InvitationsState

    async def _remove(self) -> Next:
        again = body(InvitationCreate, {"email": self.about.email, "role": self.about.role})
        answer = await self._api.invite(self._org_id(), again)
        self._waiting = isinstance(answer, Acceptance)
        return InvitationsState.reload

    def _words(self) -> tuple[str, str]:
        if self._waiting:
            return "Waiting for a second person", f"{self.about.email} is invited after their approval."
        return "Invited again", f"{self.about.email} gets a new link."


def invitation_view(invitation: SentInvitation) -> InvitationView:
    """Convert the API's invitation."""
    return InvitationView(
        id=str(invitation.id),
        email=invitation.email,
        role=invitation.role,
        status=invitation.status,
        delivery=invitation.delivery or "",
        expires_at=stamp(invitation.expires_at),
        created_at=stamp(invitation.created_at),
    )
