"""People and companies an organization knows: the list, and writing one down."""

import asyncio
from typing import Any

import reflex as rx
from pydantic import ValidationError

from backend.client import ApiProblem
from backend.parties.schemas import PartyCreate, PartyStatus
from state.api import Form
from state.case import Case, lists
from state.countries import country_code
from state.fields import findings
from state.given import id_of
from state.paging import Pages
from state.party import PartyView, party_view
from state.queue import SETTLE


class Parties(Pages, rx.State):
    """The list, by status and search."""

    rows: list[PartyView] = []
    status: str = ""
    search: str = ""
    chosen: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        query = {"organization_id": self.org_id, "status": self.status, "search": self.search, "cursor": cursor}
        page = await self._api("GET", "/identity/parties", params=query)
        self.rows = [party_view(party) for party in page["parties"]]
        return page["nextCursor"]

    async def _again(self) -> None:
        await self._page()

    @rx.event
    async def load(self):
        """Read the first page; `?id=` opens a party."""
        self.status, self.search, self.chosen = "", "", ""
        await self._restart()
        yield
        if asked := id_of(self._query("id")):
            self.chosen = asked
            await (await self.get_state(Case))._open_party(asked)

    @rx.event(supersedes=True)
    async def pick_status(self, status: str):
        """Show one status, or all."""
        if status == "" or status in list(PartyStatus):
            self.status = status
            await self._restart()

    @rx.event(supersedes=True)
    async def find(self, words: str):
        """Search by name, email or wallet."""
        self.search = str(words)[:100]
        await self._restart()

    @rx.event(supersedes=True)
    async def choose(self, party_id: str):
        """Open a row."""
        self.chosen = id_of(party_id)
        yield
        await (await self.get_state(Case))._open_party(self.chosen)

    @rx.event(supersedes=True)
    async def step(self, by: int):
        """Go to the next row, or back: the keys J and K."""
        if not self.rows or by not in (1, -1):
            return
        at = next((i for i, row in enumerate(self.rows) if row.id == self.chosen), -1 if by > 0 else 1)
        self.chosen = self.rows[max(0, min(len(self.rows) - 1, at + by))].id
        yield
        await asyncio.sleep(SETTLE)
        await (await self.get_state(Case))._open_party(self.chosen)

    @rx.event
    async def leave(self):
        """Close the drawer: nothing is chosen."""
        self.chosen = ""
        (await self.get_state(Case)).shown = ""


class PartyForm(Form, rx.State):
    """The dialog that writes a party down."""

    is_open: bool = False

    @rx.event
    def show(self, is_open: bool):
        """Open or close it."""
        self._done()
        self.is_open = bool(is_open)

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Write the party down and open it."""
        self._begin()
        yield
        try:
            body = PartyCreate.model_validate(self._given(data))
            party = await self._api("POST", "/identity/parties", json=body.model_dump(mode="json"), key=self._form_key)
        except ValidationError as error:
            self.errors, self.saving = findings(error), False
            self._keep_at("name", "email", "country", "wallet_address")
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("name", "email", "country", "wallet_address")
            return
        self._done()
        self.is_open = False
        await self._notify(f"{party['name']} is registered", "The identity is not verified yet")
        (await self.get_state(Parties)).chosen = party["id"]
        case = await self.get_state(Case)
        await case._open_party(party["id"])
        await case._refresh()

    def _given(self, data: dict[str, Any]) -> dict[str, Any]:
        return {
            "organization_id": self.org_id,
            "kind": str(data.get("kind", "person")),
            "name": str(data.get("name", "")),
            "email": str(data.get("email", "")).strip() or None,
            "country": country_code(str(data.get("country", ""))[:100]),
            "wallet_address": str(data.get("wallet_address", "")).strip() or None,
        }


lists["parties"] = Parties
