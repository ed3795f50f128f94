"""The user's account: sessions and password."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.sign_in.schemas import PasswordChange
from state.core.api import Api
from state.core.arguments import texts
from state.core.dialogs import Dialog
from state.core.events import Events, Next
from state.users.passwords import short
from state.users.sessions import SessionsState


class PasswordForm(Dialog, rx.State):
    """The dialog that changes the password."""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Change the password; every other session ends."""
        entered = texts(data, 300)
        fields = {name: entered.get(name, "") for name in ("current_password", "new_password")}
        self._begin()
        yield
        if fault := short(fields["new_password"]):
            self.saving, self.errors = False, {"new_password": fault}
            return
        try:
            await self._api.change_password(body(PasswordChange, fields))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("current_password", "new_password")
            return
        self._close()
        await self._notify("Password changed", "All your other sessions are signed out.")
        yield SessionsState.load


class AccountRedirect(Api, rx.State):
    """Redirects `/account` to the account page within the user's organization. That page redirects investors."""

    problem: str = ""

    @rx.event
    async def start(self) -> Next:
        """Redirect to the account page."""
        me = await self._api.get_me()
        if me.org_id:
            return rx.redirect(f"/o/{me.org_id}/account", replace=True)
        self.problem = "You have no role in any organization yet. An admin can invite you."
        return None
