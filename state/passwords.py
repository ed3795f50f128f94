"""A forgotten password: asking for the link, and choosing another by it."""

from typing import Any

import reflex as rx

from backend.auth.accounts import MIN_PASSWORD
from backend.client import ApiProblem
from state.api import Form
from state.given import named, texts


def short(password: str) -> str:
    """What is wrong with a new password, or an empty string."""
    return "" if len(password) >= MIN_PASSWORD else f"This is too short: {len(password)} of {MIN_PASSWORD} characters"


class Forgotten(Form, rx.State):
    """Asking for the link. What comes of it is told by mail only."""

    asked: bool = False

    @rx.event
    def load(self):
        """Begin anew."""
        self._done()
        self.asked = False

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Ask."""
        self._begin()
        yield
        try:
            await self._api("POST", "/auth/password/forgot", json=named(data, "email"))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("email")
            return
        self._done()
        self.asked = True


class Chosen(Form, rx.State):
    """Choosing another password by the link's token, which stays in the address."""

    changed: bool = False

    @rx.event
    def load(self):
        """Begin anew."""
        self._done()
        self.changed = False

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Take the new password."""
        password = texts(data, 300).get("password", "")
        self._begin()
        yield
        if fault := short(password):
            self.saving, self.errors = False, {"password": fault}
            return
        try:
            body = {"token": self._query("token")[:300], "password": password}
            await self._api("POST", "/auth/password/reset", json=body)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("password")
            return
        self._done()
        self.changed = True
