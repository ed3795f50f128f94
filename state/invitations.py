"""Invitations to an organization."""

from dataclasses import dataclass

import reflex as rx

from backend.invitations.schemas import InvitationStatus
from state.given import one_of
from state.paging import Pages
from state.removing import Removes


@dataclass
class InvitationRow:
    """An invitation."""

    id: str = ""
    email: str = ""
    role: str = ""
    status: str = ""
    expires_at: str = ""
    created_at: str = ""


class InvitationsState(Pages, rx.State):
    """The list, by pages."""

    rows: list[InvitationRow] = []
    status: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/invitations", params={"status": self.status, "cursor": cursor})
        names = InvitationRow.__dataclass_fields__
        self.rows = [InvitationRow(**{name: row[name] for name in names}) for row in page["invitations"]]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()

    @rx.event(supersedes=True)
    async def filter(self, status: str):
        """Show one status, or all."""
        self.status = one_of(status, InvitationStatus)
        await self._restart()


class Revocation(Removes, rx.State):
    """The question before an invitation is revoked."""

    about: InvitationRow = InvitationRow()

    def _list(self) -> type[Pages]:
        return InvitationsState

    def _path(self) -> str:
        return f"/invitations/{self.about.id}"

    def _words(self) -> tuple[str, str]:
        return "The invitation is revoked", f"The link sent to {self.about.email} no longer works."
