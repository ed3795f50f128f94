"""A second factor that is asked for in the middle of something, which is then repeated."""

import json
from contextvars import ContextVar
from typing import Any

import reflex as rx
from reflex_base.event import Event

from backend.client import ApiProblem
from state.api import Form
from state.given import named

CREDENTIAL = 16_000
"""Characters of a passkey's answer."""
event_in_hand: ContextVar[Event | None] = ContextVar("event_in_hand", default=None)
"""The event that is handled now; the console's door says so."""


class Confirming(Form, rx.State):
    """The dialog that asks for a factor. `_waiting` is the event that the API refused without one."""

    is_open: bool = False
    has_passkey: bool = False
    has_app: bool = False
    _waiting: Event | None = None

    async def _ask(self) -> None:
        """Open the dialog about the event in hand."""
        self._done()
        self._waiting = event_in_hand.get()
        try:
            kinds = {factor["kind"] for factor in (await self._api("GET", "/auth/factors"))["factors"]}
        except ApiProblem:
            kinds = {"totp", "passkey"}
        self.has_passkey, self.has_app, self.is_open = "passkey" in kinds, "totp" in kinds, True

    @rx.event
    def show(self, is_open: bool):
        """Close it; what waited is not repeated."""
        if not is_open:
            self._done()
            self.is_open, self._waiting = False, None

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Confirm by a code, and repeat what waited."""
        self._begin()
        yield
        if event := await self._confirm({"code": named(data, "code")["code"]}):
            yield event

    @rx.event
    async def answer(self, credential: str):
        """Confirm by a passkey, and repeat what waited."""
        self._begin()
        yield
        if event := await self._confirm({"credential": answer_of(credential)}):
            yield event

    async def _confirm(self, proof: dict[str, Any]) -> Event | None:
        if not self.is_open:
            self._done()
            return None
        try:
            await self._api("POST", "/auth/factors/verify", json=proof)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("code")
            return None
        self._done()
        event, self._waiting, self.is_open = self._waiting, None, False
        return event


def answer_of(credential: Any) -> dict[str, Any]:
    """A passkey's answer as the page's script wrote it; empty where it is something else."""
    try:
        told = json.loads(str(credential)[:CREDENTIAL])
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
