"""The organization of which the user is an investor. Only the page's URL selects it."""

from dataclasses import dataclass

import reflex as rx

from backend.investors.schemas import InvestorMembership
from state.core.api import Api
from state.core.events import Next
from state.core.session import Session, shown_network


@dataclass
class Place:
    """An organization of which the user is an investor."""

    id: str = ""
    organization_name: str = ""
    href: str = ""


class InvestorPlace(Api, rx.State):
    """The investor's current organization, and the others."""

    here: Place = Place()
    places: list[Place] = []
    is_missing: bool = False

    @rx.event
    async def enter(self) -> None:
        """Run after `Session.enter` on every page of an investor: read their organizations."""
        await self._read()

    async def _read(self) -> None:
        found = (await self._api.get_investor_memberships()).memberships
        self.places = [_place(one) for one in found]
        wanted = self._in_path("membership_id")
        self.here = next((place for place in self.places if place.id == wanted), Place())
        self.is_missing = bool(wanted) and not self.here.id
        network = next((str(one.network) for one in found if str(one.id) == wanted), "")
        (await self.get_state(Session)).network = shown_network(network)

    @rx.event
    async def choose(self) -> Next:
        """Open the page of the only organization; with several, the user chooses."""
        await self._read()
        return rx.redirect(self.places[0].href, replace=True) if len(self.places) == 1 else None


def _place(one: InvestorMembership) -> Place:
    return Place(str(one.id), one.organization_name, f"/i/{one.id}")
