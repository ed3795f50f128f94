"""The form that registers an issuer."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.issuers.schemas import IssuerRegister
from state.core.dialogs import Dialog
from state.core.events import Events
from state.issuers.issuer import IssuerState, terms_view
from state.issuers.temporary_key import RegistersIssuer
from state.requests.tracker import Tracker


class IssuerForm(RegistersIssuer, Dialog, rx.State):
    """The dialog that registers, completes a registration, or changes its terms."""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Register with a key that is valid for 5 minutes, to which the user has agreed, and follow the request."""
        if not data.get("consent"):
            self.errors = {"consent": "The console creates the key only with your consent"}
            return
        self._begin()
        yield
        try:
            request_id = await self._register_issuer(body(IssuerRegister, terms_view(data)))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("name", "max_kyc_level")
            return
        self._close()
        issuer = await self.get_state(IssuerState)
        is_change = issuer.is_issuer and issuer.missing == 0
        await self._accepted("Changing the issuer's terms" if is_change else "Registering the issuer", request_id)
        await issuer._read()
        yield [Tracker.watch, issuer._follow(request_id)]
