"""A proof of identity that is requested during an action; the action is repeated afterwards."""

import json
from contextvars import ContextVar
from typing import Any

import reflex as rx
from reflex_base.event import Event

from backend.client import ApiProblem, body
from backend.factors.schemas import FactorKind, FactorProof
from state.core.arguments import named, texts
from state.core.events import Events
from state.users.wallet_proof import SignsWithWallet

CREDENTIAL = 16_000
"""Maximum characters of a passkey's response."""
STATEMENT = "Confirm your identity in Signum"
current_event: ContextVar[Event | None] = ContextVar("current_event", default=None)
"""The event that is being handled, set by the console's event guard."""


class ProofPrompt(SignsWithWallet, rx.State):
    """The dialog that asks for a proof of identity. `step` is what it asks for: factor, password or wallet, and none
    while it is closed. `_waiting` is the event that the API refused without the proof."""

    step: str = ""
    has_passkey: bool = False
    _waiting: Event | None = None

    async def _ask(self, refused: ApiProblem) -> None:
        """Open the dialog for the current event."""
        self._done()
        self.message, self._waiting = "", current_event.get()
        self.step = await (self._factor() if refused.rule == "fresh_factor" else self._password_or_wallet())

    async def _factor(self) -> str:
        try:
            factors = (await self._api.list_factors()).factors
            self.has_passkey = any(factor.kind is FactorKind.PASSKEY for factor in factors)
        except ApiProblem:
            self.has_passkey = True
        return "factor"

    async def _password_or_wallet(self) -> str:
        """Return which of the two the account has; the API's refusal of an empty proof names it."""
        try:
            await self._api.verify_factor(FactorProof())
        except ApiProblem as problem:
            pointers = {error.get("pointer") for error in problem.errors}
            return "wallet" if "/wallet" in pointers else "password"
        return "password"

    @rx.event
    def show(self, is_open: bool) -> None:
        """Close the dialog; the refused event is not repeated."""
        if not is_open:
            self._done()
            self.step, self.message, self._waiting = "", "", None

    def _leave(self) -> None:
        self.step, self.message, self._waiting = "", "", None

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Confirm with a code, and repeat the refused event."""
        self._begin()
        yield
        if event := await self._confirm({"code": named(data, "code")["code"]}):
            yield event

    @rx.event
    async def answer(self, credential: str) -> Events:
        """Confirm with a passkey, and repeat the refused event."""
        self._begin()
        yield
        if event := await self._confirm({"credential": answer_of(credential)}):
            yield event

    @rx.event
    async def give_password(self, data: dict[str, Any]) -> Events:
        """Confirm with the password, and repeat the refused event."""
        self._begin()
        yield
        if event := await self._confirm({"password": texts(data, 300).get("password", "")}):
            yield event

    @rx.event
    async def choose_wallet(self, account: str) -> None:
        """Create the message that the account of the browser's wallet signs."""
        if self.step == "wallet":
            await self._write_message(account, STATEMENT)

    @rx.event
    async def give_signature(self, signature: str) -> Events:
        """Confirm with the wallet's signature, and repeat the refused event."""
        self._begin()
        yield
        if event := await self._confirm(self._signed(signature)):
            yield event

    async def _confirm(self, proof: dict[str, Any]) -> Event | None:
        if not self.step:
            self._done()
            return None
        try:
            await self._api.verify_factor(body(FactorProof, proof))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("code", "password")
            return None
        self._done()
        event, self._waiting, self.step = self._waiting, None, ""
        return event


def answer_of(credential: Any) -> dict[str, Any]:
    """Parse a passkey's response from the page's script; empty if it is malformed."""
    try:
        response = json.loads(str(credential)[:CREDENTIAL])
    except (ValueError, RecursionError):
        return {}
    return response if isinstance(response, dict) else {}
