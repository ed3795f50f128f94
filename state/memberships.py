"""Who has added the person and waits for their answer."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.members.schemas import Role
from state.api import Api
from state.given import id_of


@dataclass
class Waiting:
    """An organization that has added the person."""

    id: str
    organization_id: str
    organization_name: str
    role: str


class PendingMemberships(Api, rx.State):
    """What waits, shown above every page until it is answered."""

    rows: list[Waiting] = []
    problem: str = ""
    unread: str = ""

    @rx.event
    async def look(self):
        """Read what waits; where that cannot be read, say so, and keep what was known."""
        try:
            await self._read()
            self.unread = ""
        except ApiProblem as problem:
            self.unread = problem.detail or problem.title

    async def _read(self) -> None:
        page = await self._api("GET", "/memberships/pending")
        self.rows = [_waiting(record) for record in page["memberships"]]

    @rx.event
    async def accept(self, membership_id: str):
        """Become a member; who was in no organization goes to this one."""
        row = await self._answer(membership_id, "accept")
        if row is None:
            return None
        overview, may_look = f"/o/{row.organization_id}/overview", row.role != Role.CLIENT
        if may_look and not self._org_id():
            return rx.redirect(overview, replace=True)
        said = f"You are a member of {row.organization_name}"
        await self._notify(said, href=overview if may_look else "", link="Open" if may_look else "")
        return None

    @rx.event
    async def decline(self, membership_id: str):
        """Have none of it."""
        if row := await self._answer(membership_id, "decline"):
            await self._notify(f"You declined to join {row.organization_name}")

    async def _answer(self, membership_id: str, verb: str) -> Waiting | None:
        row = next((row for row in self.rows if row.id == id_of(membership_id)), None)
        if row is None:
            return None
        self.problem = ""
        try:
            await self._api("POST", f"/memberships/{row.id}/{verb}")
        except ApiProblem as problem:
            self.problem, row = problem.detail or problem.title, None
        await self._read()
        return row


def _waiting(record: dict[str, Any]) -> Waiting:
    return Waiting(record["id"], record["organization_id"], record["organization_name"], record["role"])
