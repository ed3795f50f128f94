"""The dialog that creates or edits an organization."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.given import named, one_of
from state.organization import Detail, OrganizationState

FIELDS = ("name", "org_type", "email", "website", "jurisdiction", "description", "network")


class OrganizationForm(Form, rx.State):
    """`mode` is "create" or "edit"; a new one stands below the selected one, or on its own."""

    is_open: bool = False
    mode: str = "create"
    place: str = "below"
    given: Detail = Detail()

    @rx.event
    async def create(self):
        """Open the dialog for a new organization."""
        await self._begin_with("create")

    @rx.event
    async def edit(self):
        """Open the dialog for the selected organization."""
        await self._begin_with("edit")

    async def _begin_with(self, mode: str) -> None:
        self._done()
        page = await self.get_state(OrganizationState)
        self.given, self.place = page.item, "below" if page.can_write else "alone"
        self.mode, self.is_open = mode, True

    @rx.event
    def show(self, is_open: bool):
        """Close it (a click outside, Escape, Cancel)."""
        self.is_open = bool(is_open) and self.is_open

    @rx.event
    def put(self, place: str):
        """Choose where the new one stands."""
        self.place = one_of(place, ("below", "alone"), "below")

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Create or edit."""
        self._begin()
        yield
        given = named(data, *FIELDS)
        try:
            await (self._edit(given) if self.mode == "edit" else self._create(given))
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._done()
        self.is_open = False

    async def _create(self, given: dict[str, str]) -> None:
        body = {name: value for name, value in given.items() if value}
        path = f"/orgs/{self.given.id}/sub-orgs" if self.place == "below" else "/orgs"
        made = await self._api("POST", path, json=body, key=self._form_key)
        page = await self.get_state(OrganizationState)
        if self.place == "below":
            await page._changed(self.given.id)
            await page._go(made["id"])
            await self._notify(f"{made['name']} is created", f"Below {self.given.name}")
        else:
            detail = "You are its admin. It begins a hierarchy of its own."
            await self._notify(f"{made['name']} is created", detail, "ok", f"/o/{made['id']}/overview", "Open")

    async def _edit(self, given: dict[str, str]) -> None:
        changed = {name: value or None for name, value in given.items() if value != getattr(self.given, name)}
        if not changed:
            return
        saved = await self._api("PATCH", f"/orgs/{self.given.id}", json=changed, key=self._form_key)
        page = await self.get_state(OrganizationState)
        await page._changed(self.given.parent_id or self.given.id)
        await page._go(saved["id"])
        await self._notify(f"{saved['name']} is saved")
