"""The dialog that changes a party's name, email and wallet."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.parties.schemas import Party, PartyUpdate
from state.attestations.case import Case
from state.core.arguments import texts
from state.core.dialogs import Dialog
from state.core.edits import Edits
from state.core.events import Events

FIELDS = {"name": "Name", "email": "Email", "wallet_address": "Wallet"}
"""What a party's record has under each field of the dialog, and its name on the page."""


class PartyEdit(Edits, Dialog, rx.State):
    """The dialog. Only the fields that its user changed are sent."""

    id: str = ""
    given: dict[str, str] = {}
    """The fields as they were when the dialog opened."""

    @rx.event
    async def begin(self) -> None:
        """Open the dialog for the party in the drawer, as it is now."""
        self._done()
        self.id = (await self.get_state(Case)).party.id
        try:
            with self._api.response_headers() as headers:
                party = await self._api.get_party(self.id, organization_id=self._org_id())
        except ApiProblem as problem:
            await self._notify("It cannot be changed", problem.detail, "bad")
            return
        self.given, self._version, self._known = _fields(party), headers["etag"], _values(party)
        self.is_open = True

    async def _current(self) -> dict[str, str]:
        return _values(await self._api.get_party(self.id, organization_id=self._org_id()))

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Save the changed fields, and show the party."""
        self._begin()
        yield
        said = {name: text.strip() for name, text in texts(data).items() if name in FIELDS}
        changed = {name: text or None for name, text in said.items() if text != self.given.get(name, "")}
        try:
            if changed:
                change = body(PartyUpdate, changed)
                org = self._org_id()
                await self._api.update_party(self.id, change, organization_id=org, if_match=self._version)
        except ApiProblem as problem:
            await self._reject(problem, *FIELDS)
            return
        self._close()
        await self._notify("The party is saved")
        await (await self.get_state(Case))._refresh()


def _fields(party: Party) -> dict[str, str]:
    return {name: str(getattr(party, name) or "") for name in FIELDS}


def _values(party: Party) -> dict[str, str]:
    """Return what people change of a party, by its names on the page."""
    return {FIELDS[name]: text for name, text in _fields(party).items()}
