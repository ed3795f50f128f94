"""Invitations to an organization."""

from dataclasses import dataclass

import reflex as rx

from backend.client import ApiProblem
from backend.invitations.schemas import InvitationStatus
from state.api import Form
from state.given import one_of
from state.paging import Pages


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


class Revocation(Form, rx.State):
    """The question before an invitation is revoked."""

    is_open: bool = False
    invitation: InvitationRow = InvitationRow()

    @rx.event
    async def ask(self, id: str):
        """Ask about one of the listed invitations."""
        rows = (await self.get_state(InvitationsState)).rows
        row = next((row for row in rows if row.id == str(id)), None)
        if row is not None:
            self._done()
            self.invitation, self.is_open = row, True

    @rx.event
    def show(self, is_open: bool):
        """Close it."""
        self.is_open = self.is_open and bool(is_open)

    @rx.event
    async def confirm(self):
        """Revoke."""
        self._begin()
        yield
        try:
            await self._api("DELETE", f"/orgs/{{org}}/invitations/{self.invitation.id}")
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = problem.detail or problem.title
            return
        self._done()
        self.is_open = False
        await self._notify("The invitation is revoked", f"The link sent to {self.invitation.email} no longer works.")
        yield InvitationsState.reload
