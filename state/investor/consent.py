"""What an investor agreed to, and how they leave."""

import reflex as rx

from backend.client import ApiProblem
from state.core.api import Loads
from state.core.dialogs import Dialog
from state.core.events import Events
from state.investor import words


class InvestorConsent(Loads, rx.State):
    """Who may see what about the investor, and since when."""

    organization: str = ""
    above: list[str] = []
    since: str = ""
    has_agreed: bool = False
    """They agreed themselves, and were not added without being asked."""

    @rx.event
    async def load(self) -> None:
        """Read the membership."""
        try:
            person = await self._api.get_investor(self._in_path("membership_id"))
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.organization, self.above = person.organization_name, person.organizations_above
        self.has_agreed = person.agreed_at is not None
        self.since = words.day(person.agreed_at or person.member_since, await self._zone())
        self._loaded()


class LeaveOrganization(Dialog, rx.State):
    """The confirmation before an investor leaves."""

    @rx.event
    async def confirm(self) -> Events:
        """Leave, and go to the organizations that remain."""
        self._begin()
        yield
        try:
            await self._api.leave_organization(self._in_path("membership_id"))
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._close()
        organization = (await self.get_state(InvestorConsent)).organization
        await self._notify(f"You left {organization}", "Your tokens stay in your wallet.")
        yield rx.redirect("/i", replace=True)
