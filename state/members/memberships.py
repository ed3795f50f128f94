"""Pending memberships of the user, which they accept or decline."""

from dataclasses import dataclass

import reflex as rx

from backend.client import ApiProblem
from backend.memberships.schemas import PendingMembership
from backend.users.schemas import Role
from state.core.api import Api
from state.core.arguments import id_of
from state.core.events import Next


@dataclass
class PendingMembershipView:
    """An organization that has added the user."""

    id: str
    organization_id: str
    organization_name: str
    role: str


class PendingMemberships(Api, rx.State):
    """The pending memberships, shown above every page until they are answered."""

    rows: list[PendingMembershipView] = []
    problem: str = ""
    unread: str = ""

    @rx.event
    async def look(self) -> None:
        """Read the pending memberships; report a failure and keep the known ones."""
        try:
            await self._read()
            self.unread = ""
        except ApiProblem as problem:
            self.unread = problem.detail or problem.title

    async def _read(self) -> None:
        page = await self._api.list_pending_memberships()
        self.rows = [_membership(membership) for membership in page.memberships]

    @rx.event
    async def accept(self, membership_id: str) -> Next:
        """Become a member; users who had no organization go to this one. Investors have their own page."""
        row = await self._answer(membership_id, accepts=True)
        if row is None:
            return None
        is_client = row.role == Role.CLIENT
        opened = f"/i/{row.id}" if is_client else f"/o/{row.organization_id}/overview"
        if not self._org_id() and not self._in_path("membership_id"):
            return rx.redirect(opened, replace=True)
        said = f"You are {'an investor' if is_client else 'a member'} of {row.organization_name}"
        await self._notify(said, href=opened, link="Open")
        return None

    @rx.event
    async def decline(self, membership_id: str) -> None:
        """Decline the membership."""
        if row := await self._answer(membership_id, accepts=False):
            await self._notify(f"You declined to join {row.organization_name}")

    async def _answer(self, membership_id: str, *, accepts: bool) -> PendingMembershipView | None:
        """Accept or decline a pending membership; return it, or None if it is unknown or the API refused."""
        row = next((row for row in self.rows if row.id == id_of(membership_id)), None)
        if row is None:
            return None
        self.problem = ""
        try:
            await (self._api.accept_membership(row.id) if accepts else self._api.decline_membership(row.id))
        except ApiProblem as problem:
            self.problem, row = problem.detail or problem.title, None
        await self._read()
        return row


def _membership(membership: PendingMembership) -> PendingMembershipView:
    return PendingMembershipView(
        id=str(membership.id),
        organization_id=str(membership.organization_id),
        organization_name=membership.organization_name,
        role=membership.role,
    )
