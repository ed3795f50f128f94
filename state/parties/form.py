"""The form that creates a party."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.compliance.countries import NAMES
from backend.parties.schemas import PartyCreate
from state.attestations.case import Case
from state.core.countries import country_code
from state.core.dialogs import Dialog
from state.core.events import Events
from state.parties.list import Parties


class PartyForm(Dialog, rx.State):
    """The dialog that registers a party."""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Register the party and open it."""
        self._begin()
        yield
        if errors := self._errors(data):
            self.saving, self.errors = False, errors
            return
        try:
            party = await self._api.create_party(body(PartyCreate, self._fields(data)), idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("name", "email", "country", "wallet_address")
            return
        self._close()
        await self._notify(f"{party.name} is registered", "The identity is not verified yet")
        (await self.get_state(Parties)).chosen = str(party.id)
        case = await self.get_state(Case)
        await case._open_party(str(party.id))
        await case._refresh()

    def _errors(self, data: dict[str, Any]) -> dict[str, str]:
        """Return the error of a country that is not in the list; the API reports all others."""
        given = str(data.get("country", "")).strip()[:100]
        return {"country": "Choose a country from the list"} if given and country_code(given) not in NAMES else {}

    def _fields(self, data: dict[str, Any]) -> dict[str, Any]:
        return {
            "organization_id": self._org_id(),
            "kind": str(data.get("kind", "person")),
            "name": str(data.get("name", "")),
            "email": str(data.get("email", "")).strip() or None,
            "country": country_code(str(data.get("country", ""))[:100]),
            "wallet_address": str(data.get("wallet_address", "")).strip() or None,
        }
