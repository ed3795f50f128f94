"""The applications that the signed-in person has connected, and disconnecting one."""

from dataclasses import dataclass, field
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.paging import Pages


@dataclass
class ConnectionRow:
    """A connected application; `what` is what it may do, in words."""

    id: str = ""
    name: str = ""
    organization: str = ""
    what: list[str] = field(default_factory=list)
    connected_at: str = ""
    last_used_at: str = ""
    holds: str = ""


class ConnectionsState(Pages, rx.State):
    """The list, by pages."""

    rows: list[ConnectionRow] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/auth/applications", params={"cursor": cursor})
        self.rows = [_row(row) for row in page["applications"]]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()


class Disconnection(Form, rx.State):
    """The question before an application is disconnected."""

    is_open: bool = False
    about: ConnectionRow = ConnectionRow()

    @rx.event
    async def ask(self, id: str):
        """Ask about one of the listed applications."""
        rows = (await self.get_state(ConnectionsState)).rows
        row = next((row for row in rows if row.id == str(id)), None)
        if row is not None:
            self._done()
            self.about, self.is_open = row, True

    @rx.event
    def show(self, is_open: bool):
        """Close it."""
        self.is_open = self.is_open and bool(is_open)

    @rx.event
    async def confirm(self):
        """Disconnect it."""
        self._begin()
        yield
        try:
            await self._api("DELETE", f"/auth/applications/{self.about.id}")
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = problem.detail or problem.title
            return
        self._done()
        self.is_open = False
        await self._notify(f"{self.about.name} is disconnected", "Its sessions and keys have ended.")
        yield ConnectionsState.reload


def _row(told: dict[str, Any]) -> ConnectionRow:
    sessions, keys = told["sessions"], told["api_keys"]
    held = [_count(sessions, "session"), _count(keys, "API key")]
    return ConnectionRow(
        id=told["id"],
        name=told["name"],
        organization=told["organization_name"],
        what=[scope["description"] for scope in told["scopes"]],
        connected_at=told["connected_at"],
        last_used_at=told["last_used_at"] or "",
        holds=", ".join(filter(None, held)) or "Consent only",
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}" if number else ""
