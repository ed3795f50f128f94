"""A forgotten password: requesting the link, and choosing a new password with it."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.sign_in.accounts import MIN_PASSWORD
from backend.sign_in.schemas import PasswordForgot, PasswordLink, PasswordReset
from state.core.api import Form
from state.core.arguments import texts
from state.core.events import Events

BAD_LINK = "It is invalid, was used before, or is older than 30 minutes."


def short(password: str) -> str:
    """Return the error of a new password, or an empty string."""
    return "" if len(password) >= MIN_PASSWORD else f"Too short: {len(password)} of {MIN_PASSWORD} characters"


class ForgottenPassword(Form, rx.State):
    """Requesting the link. Whether the account exists is not disclosed; only the email shows it."""

    is_requested: bool = False
    is_repeated: bool = False
    email: str = ""

    @rx.event
    def load(self) -> None:
        """Reset the form."""
        self._done()
        self.is_requested, self.is_repeated, self.email = False, False, ""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Request the link."""
        self._begin()
        yield
        given = texts(data, 320).get("email", "").strip()
        if await self._request(given):
            self.is_requested, self.email = True, given

    @rx.event
    async def repeat(self) -> Events:
        """Request another link for the same address."""
        if not self.is_requested:
            return
        self._begin()
        yield
        self.is_repeated = await self._request(self.email)

    async def _request(self, email: str) -> bool:
        """Request a link; return False if that was refused."""
        try:
            await self._api.forgot_password(body(PasswordForgot, {"email": email}))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("email")
            return False
        self._done()
        return True


class NewPassword(Form, rx.State):
    """Choosing a new password with the link's token, which stays in the URL."""

    changed: bool = False
    is_ready: bool = False
    """Whether the link was checked."""
    link_problem: str = ""
    """Why the link cannot be used."""

    @rx.event
    async def load(self) -> Events:
        """Reset the form, and check the link before the form is shown."""
        self._done()
        self.changed, self.is_ready, self.link_problem = False, False, ""
        yield
        try:
            await self._api.check_password_link(body(PasswordLink, {"token": self._token()}))
        except ApiProblem as problem:  # any other problem is shown when the form is sent
            if problem.status in (400, 422):
                self.link_problem = BAD_LINK
        self.is_ready = True

    def _token(self) -> str:
        return self._query("token")[:300]

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Set the new password."""
        password = texts(data, 300).get("password", "")
        self._begin()
        yield
        if fault := short(password):
            self.saving, self.errors = False, {"password": fault}
            return
        try:
            reset = body(PasswordReset, {"token": self._token(), "password": password})
            await self._api.reset_password(reset)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("password")
            return
        self._done()
        self.changed = True
