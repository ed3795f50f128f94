"""People and companies an organization knows: the list, and registering one."""

import asyncio
from typing import ClassVar

import reflex as rx

from backend.parties.schemas import PartyStatus
from state.attestations.case import LISTS, Case, CaseList
from state.core.address import Param, written
from state.core.arguments import chosen
from state.core.events import Events
from state.core.paging import CountedByStatus
from state.parties.detail import PartyView, party_view


class Parties(CaseList, CountedByStatus, rx.State):
    """The list of parties, by status and search."""

    rows: list[PartyView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at", "name")
    _statuses = PartyStatus
    search: str = ""
    _in_url: ClassVar[dict[str, Param]] = {"q": written("search")}

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_parties(
            organization_id=self._org_id(),
            status=chosen(PartyStatus, self.status),
            q=self.search or None,
            cursor=cursor or None,
            **self._order(),
        )
        self.rows = [party_view(party) for party in page.parties]
        return page.nextCursor

    async def _number(self, status: str) -> int | None:
        wanted = chosen(PartyStatus, status)
        page = await self._api.list_parties(
            organization_id=self._org_id(), status=wanted, q=self.search or None, limit=1, count="estimated"
        )
        return page.estimatedCount

    async def _refresh(self) -> None:
        await asyncio.gather(super()._refresh(), self._count())

    async def _open(self) -> None:
        await (await self.get_state(Case))._open_party(self.chosen)

    async def _preview(self) -> None:
        row = next((row for row in self.rows if row.id == self.chosen), None)
        if row is not None:
            (await self.get_state(Case))._show_known(row)

    @rx.event
    async def load(self) -> Events:
        """Read the first page; `?id=` opens a party."""
        self._read_url()
        await self._restart()
        await self._preview()
        yield
        if self.chosen:
            await self._open()

    @rx.event(supersedes=True)
    async def find(self, words: str) -> None:
        """Search by name, email or wallet."""
        self.search = str(words)[:100]
        await self._restart()


LISTS["parties"] = Parties
