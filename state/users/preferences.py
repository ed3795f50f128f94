"""What the user has set for themselves: the time zone of the console, and hidden cards."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.preferences.schemas import Digest, Preferences, PreferencesUpdate
from state.core.api import Form
from state.core.arguments import texts
from state.core.events import Events, Next

UTC = "UTC"


class MyPreferences(Form, rx.State):
    """The user's preferences, read on every page. A failed read keeps the last ones."""

    time_zone: str = UTC
    digest: bool = False
    hidden: list[str] = []

    @rx.event
    async def look(self) -> None:
        """Read the preferences."""
        try:
            self._take(await self._api.get_preferences())
        except ApiProblem:
            return

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Set the time zone of the form, where an empty field is UTC, and whether the user gets a daily email."""
        fields = {"time_zone": texts(data).get("time_zone", "").strip()[:100] or UTC}
        if data.get("has_digest"):
            fields["digest"] = str(Digest.DAILY if data.get("digest") else Digest.OFF)
        self._begin()
        yield
        if await self._change(fields):
            self._done()
            await self._notify("Preferences saved", f"The console shows times in {self.time_zone}.")

    @rx.event
    async def use(self, zone: str) -> Events:
        """Set the time zone of the browser."""
        self._begin()
        yield
        if await self._change({"time_zone": str(zone)[:100] or UTC}):
            self._done()
            await self._notify("Time zone changed", f"The console shows times in {self.time_zone}.")

    @rx.event
    async def hide(self, card: str) -> None:
        """Hide a card."""
        if not await self._change({"hide": [str(card)[:100]]}):
            await self._notify("The card cannot be hidden", self.form_problem, "bad")
            return
        await self._notify_undoable("Card hidden", {"card": str(card)[:100]}, "Your account page shows it again.")

    async def _undo(self, facts: dict[str, str]) -> Next:
        self._take(await self._api.update_preferences(body(PreferencesUpdate, {"show": [facts["card"]]})))

    @rx.event
    async def show_all(self) -> None:
        """Show all hidden cards again."""
        if self.hidden and await self._change({"show": self.hidden}):
            await self._notify("Hidden cards are shown again")

    async def _change(self, fields: dict[str, Any]) -> bool:
        """Change preferences; return whether the API accepted them."""
        try:
            self._take(await self._api.update_preferences(body(PreferencesUpdate, fields)))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("time_zone")
            return False
        return True

    def _take(self, found: Preferences) -> None:
        self.time_zone, self.hidden, self.digest = found.time_zone, found.hidden, found.digest is Digest.DAILY
