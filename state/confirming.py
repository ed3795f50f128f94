"""A proof of the person that is asked for in the middle of something, which is then repeated."""

import json
from contextvars import ContextVar
from typing import Any

import reflex as rx
from reflex_base.event import Event

from backend.client import ApiProblem
from state.given import named, texts
from state.wallet_proof import SignsWithWallet

CREDENTIAL = 16_000
"""Characters of a passkey's answer."""
STATEMENT = "Confirm that it is you in Signum"
event_in_hand: ContextVar[Event | None] = ContextVar("event_in_hand", default=None)
"""The event that is handled now; the console's door says so."""


class Confirming(SignsWithWallet, rx.State):
    """The dialog that asks for a proof. `step` is what it asks for: factor, password, wallet, or none while it is
    closed. `_waiting` is the event that the API refused without the proof."""

    step: str = ""
    has_passkey: bool = False
    _waiting: Event | None = None

    async def _ask(self, refused: ApiProblem) -> None:
        """Open the dialog about the event in hand."""
        self._done()
        self.message, self._waiting = "", event_in_hand.get()
        self.step = await (self._factor() if refused.rule == "fresh_factor" else self._password_or_wallet())

    async def _factor(self) -> str:
        try:
            kinds = {factor["kind"] for factor in (await self._api("GET", "/auth/factors"))["factors"]}
        except ApiProblem:
            kinds = {"totp", "passkey"}
        self.has_passkey = "passkey" in kinds
        return "factor"

    async def _password_or_wallet(self) -> str:
        """Which of the two the account has; the API says so where nothing is sent."""
        try:
            await self._api("POST", "/auth/factors/verify", json={})
        except ApiProblem as problem:
            pointers = {error.get("pointer") for error in problem.errors}
            return "wallet" if "/wallet" in pointers else "password"
        return "password"

    @rx.event
    def show(self, is_open: bool):
        """Close it; what waited is not repeated."""
        if not is_open:
            self._done()
            self.step, self.message, self._waiting = "", "", None

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

    @rx.event
    async def give_password(self, data: dict[str, Any]):
        """Confirm by the password, and repeat what waited."""
        self._begin()
        yield
        if event := await self._confirm({"password": texts(data, 300).get("password", "")}):
            yield event

    @rx.event
    async def choose_wallet(self, account: str):
        """Write the message that the account of the browser's wallet signs."""
        if self.step == "wallet":
            await self._write_message(account, STATEMENT)

    @rx.event
    async def give_signature(self, signature: str):
        """Confirm by the wallet's signature, and repeat what waited."""
        self._begin()
        yield
        if event := await self._confirm(self._signed(signature)):
            yield event

    async def _confirm(self, proof: dict[str, Any]) -> Event | None:
        if not self.step:
            self._done()
            return None
        try:
            await self._api("POST", "/auth/factors/verify", json=proof)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("code", "password")
            return None
        self._done()
        event, self._waiting, self.step = self._waiting, None, ""
        return event


def answer_of(credential: Any) -> dict[str, Any]:
    """A passkey's answer as the page's script wrote it; empty where it is something else."""
    try:
        told = json.loads(str(credential)[:CREDENTIAL])
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
