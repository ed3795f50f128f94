"""The dialog that creates or edits an organization."""

from dataclasses import replace
from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.organizations.schemas import Organization, OrganizationCreate, OrganizationUpdate
from state.core.arguments import named, one_of
from state.core.countries import unwritten, written
from state.core.dialogs import DialogAbout
from state.core.edits import Edits
from state.core.events import Events
from state.organizations.organization import OrganizationDetail, OrganizationState
from state.organizations.renames import Renames
from state.organizations.values import NAMES, values_of


class OrganizationForm(Renames, Edits, DialogAbout, rx.State):
    """`mode` is "create" or "edit"; a new organization goes below the selected one, or starts a hierarchy."""

    mode: str = "create"
    place: str = "below"
    given: OrganizationDetail = OrganizationDetail()
    jurisdiction: str = ""
    """The jurisdiction as its field shows it."""

    @rx.event
    async def create(self) -> None:
        """Open the dialog for a new organization."""
        await self._begin_with("create")

    @rx.event
    async def edit(self) -> None:
        """Open the dialog for the selected organization, with its current values."""
        await self._begin_with("edit")
        try:
            await self._start()
        except ApiProblem as problem:
            self.is_open = False
            await self._notify(f"{self.given.name} could not be read", problem.detail or problem.title, "bad")
            return
        now: dict[str, Any] = {name: self._known[title] for name, title in NAMES.items()}
        self.given, self.jurisdiction = replace(self.given, **now), written(now["jurisdiction"])

    async def _current(self) -> dict[str, str]:
        return values_of(await self._api.get_organization(self.given.id))

    async def _begin_with(self, mode: str) -> None:
        self._done()
        page = await self.get_state(OrganizationState)
        self.jurisdiction = written(page.item.jurisdiction)
        self.given, self.place = page.item, "below" if page.can_write else "alone"
        self.mode, self.is_open = mode, True

    @rx.event
    def put(self, place: str) -> None:
        """Choose the new organization's position."""
        self.place = one_of(place, ("below", "alone"), "below")

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Create or edit the organization."""
        self._begin()
        yield
        given = named(data, *NAMES)
        given["jurisdiction"] = unwritten(given["jurisdiction"])
        try:
            await (self._edit(given) if self.mode == "edit" else self._create(given))
        except ApiProblem as problem:
            await self._reject(problem, *NAMES)
            return
        self._close()

    async def _create(self, given: dict[str, str]) -> None:
        new = body(OrganizationCreate, {name: value for name, value in given.items() if value})
        await (self._create_below(new) if self.place == "below" else self._create_alone(new))

    async def _create_below(self, new: OrganizationCreate) -> None:
        """Create it below the selected organization, and show it in the tree."""
        created = await self._api.create_sub_organization(self.given.id, new, idempotency_key=self._form_key)
        page = await self.get_state(OrganizationState)
        await page._changed(self.given.id)
        await page._go(str(created.id))
        await self._notify(f"{created.name} was created", f"Below {self.given.name}")

    async def _create_alone(self, new: OrganizationCreate) -> None:
        """Create it in a separate hierarchy."""
        created = await self._api.create_organization(new, idempotency_key=self._form_key)
        detail = "You are its admin. It starts a separate hierarchy."
        await self._notify(f"{created.name} was created", detail, "ok", f"/o/{created.id}/overview", "Open")

    async def _edit(self, given: dict[str, str]) -> None:
        changed = {name: value or None for name, value in given.items() if value != getattr(self.given, name)}
        if not changed:
            return
        update = body(OrganizationUpdate, changed)
        saved = await self._api.update_organization(
            self.given.id, update, idempotency_key=self._form_key, if_match=self._version
        )
        await self._restored(saved)
        was = {name: getattr(self.given, name) for name in changed}
        await self._saved(str(saved.id), f"{saved.name} was saved", was, {name: given[name] for name in changed})

    async def _restored(self, organization: Organization) -> None:
        page = await self.get_state(OrganizationState)
        await page._changed(str(organization.parent_id or organization.id))
        await page._go(str(organization.id))
