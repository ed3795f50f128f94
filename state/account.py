"""The person's own account: where they are signed in, and their password."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Api, Form
from state.given import id_of, texts
from state.paging import Pages
from state.passwords import short

KINDS = {"browser": "Browser", "token": "Program", "application": "Application"}


@dataclass
class SessionRow:
    """A place where the person is signed in."""

    id: str
    kind: str
    name: str
    address: str
    is_current: bool
    last_used_at: str
    signed_in_at: str


class SessionsState(Pages, rx.State):
    """The list, by pages."""

    rows: list[SessionRow] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/auth/sessions", params={"cursor": cursor})
        self.rows = [_session(row) for row in page["sessions"]]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()

    @rx.event
    async def end(self, session_id: str):
        """Sign out there."""
        if known := id_of(session_id):
            try:
                await self._api("DELETE", f"/auth/sessions/{known}")
                await self._notify("Signed out there")
            except ApiProblem as problem:
                await self._notify("It was over already", problem.detail, "warn")
        await self._restart()


class Everywhere(rx.State):
    """The question before every session ends. The browser's own post ends them: only so its cookie goes too."""

    is_open: bool = False

    @rx.event
    def show(self, is_open: bool):
        """Open or close it."""
        self.is_open = bool(is_open)


class PasswordForm(Form, rx.State):
    """The dialog that changes the password."""

    is_open: bool = False

    @rx.event
    def show(self, is_open: bool):
        """Open or close it."""
        self._done()
        self.is_open = bool(is_open)

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Change it; every other session ends."""
        given = texts(data, 300)
        body = {name: given.get(name, "") for name in ("current_password", "new_password")}
        self._begin()
        yield
        if fault := short(body["new_password"]):
            self.saving, self.errors = False, {"new_password": fault}
            return
        try:
            await self._api("POST", "/auth/password/change", json=body)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("current_password", "new_password")
            return
        self._done()
        self.is_open = False
        await self._notify("Your password is changed", "Everywhere else you are signed out.")
        yield SessionsState.load


class AccountDoor(Api, rx.State):
    """`/account` goes to the page within the organization the person is at home in."""

    problem: str = ""

    @rx.event
    async def start(self):
        """Go there."""
        me = await self._api("GET", "/auth/me")
        if me["org_id"]:
            return rx.redirect(f"/o/{me['org_id']}/account", replace=True)
        self.problem = "You have no role in any organization yet. An administrator can invite you."
        return None


def _session(row: dict[str, Any]) -> SessionRow:
    name = row["client_name"] or agent(row["user_agent"] or "")
    kind = KINDS.get(row["kind"], row["kind"])
    seen, began = row["last_used_at"], row["signed_in_at"]
    return SessionRow(row["id"], kind, name, row["address"] or "", row["current"], seen, began)


def agent(text: str) -> str:
    """A browser's name in what it says of itself; of a program, its first word."""
    for mark, name in (("Edg/", "Edge"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari")):
        if mark in text:
            return name
    return text.split("/")[0][:40] or "Unknown"
