"""The officer's queue: parties that wait, and attestations by status."""

import asyncio
from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.attestation import AttestationView, attestation_view
from state.case import Case, lists
from state.chain_list import Chains
from state.given import id_of
from state.paging import Pages
from state.party import WAITING, PartyView, party_view

EXPIRING_DAYS = 30
FILTERS: dict[str, dict[str, Any]] = {
    "review": {},
    "pending": {"status": "pending"},
    "active": {"status": "active"},
    "expiring": {"expiring_days": EXPIRING_DAYS},
    "expired": {"status": "expired"},
    "revoked": {"status": "revoked"},
    "failed": {"status": "failed"},
}
SETTLE = 0.12
"""Seconds a row has to stay chosen before it is read: keys repeat faster than that."""


@dataclass
class Entry:
    """A row of the queue; `at` is since when it waits, when it ends, or when it ended."""

    id: str
    is_party: bool
    name: str
    mark: str
    below: str
    country: str
    level: int
    accredited: bool
    status: str
    at: str


class Queue(Pages, Chains, rx.State):
    """The list at the left of the officer's page."""

    rows: list[Entry] = []
    show: str = "review"
    counts: dict[str, str] = {}
    chosen: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        if self.show == "review":
            return await self._fetch_waiting(cursor)
        query = FILTERS[self.show] | {"cursor": cursor}
        page = await self._api("GET", "/orgs/{org}/attestations", params=query)
        self.rows = [_attested(attestation_view(record, self)) for record in page["attestations"]]
        return page["nextCursor"]

    async def _fetch_waiting(self, cursor: str) -> str | None:
        """Parties by one status after the other; the cursor says which one it belongs to."""
        status, _, at = cursor.partition(":") if cursor else (WAITING[0], "", "")
        if status not in WAITING:
            status, at = WAITING[0], ""
        page = await self._parties(status, at, 50)
        rows, follows = page["parties"], f"{status}:{page['nextCursor']}" if page["nextCursor"] else None
        if follows is None and status == WAITING[0]:
            more = await self._parties(WAITING[1], "", 50)
            rows, follows = rows + more["parties"], f"{WAITING[1]}:{more['nextCursor']}" if more["nextCursor"] else None
        self.rows = [_waiting(party_view(party)) for party in rows]
        return follows

    async def _parties(self, status: str, cursor: str, limit: int) -> Any:
        query = {"organization_id": self.org_id, "status": status, "cursor": cursor, "limit": limit}
        return await self._api("GET", "/identity/parties", params=query)

    async def _count(self) -> None:
        """How many each filter has: from one page of everything where that is all, else from each one's first page."""
        try:
            self.counts = await self._count_waiting() | await self._count_attestations()
        except ApiProblem as problem:
            self.counts = {}
            await self._lacks("How many cases there are of each kind", problem)

    async def _count_waiting(self) -> dict[str, str]:
        pages = [await self._parties(status, "", 100) for status in WAITING]
        return {"review": _many(*((page["parties"], page["nextCursor"]) for page in pages))}

    async def _count_attestations(self) -> dict[str, str]:
        everything = await self._api("GET", "/orgs/{org}/attestations", params={"limit": 100})
        filters = {name: query for name, query in FILTERS.items() if query}
        if everything["nextCursor"] is None:
            shown = [attestation_view(record, self) for record in everything["attestations"]]
            return {name: str(sum(_fits(one, name) for one in shown)) for name in filters}
        pages = {
            name: await self._api("GET", "/orgs/{org}/attestations", params=query | {"limit": 100})
            for name, query in filters.items()
        }
        return {name: _many((page["attestations"], page["nextCursor"])) for name, page in pages.items()}

    async def _again(self) -> None:
        """Read the same page again, and the counts."""
        await self._page()
        await self._count()

    @rx.event
    async def load(self):
        """Read the first page of the filter the URL names."""
        wanted = self._query("show")
        self.show, self.chosen, self._chains = wanted if wanted in FILTERS else "review", "", {}
        await self._restart()
        yield
        if not self.problem:
            await self._count()
        if asked := id_of(self._query("id")):
            case = await self.get_state(Case)
            await (case._open_party(asked) if self.show == "review" else case._open_attestation(asked))

    @rx.event(supersedes=True)
    async def pick_filter(self, name: str):
        """Show one kind of case."""
        if name in FILTERS:
            self.show, self.chosen = name, ""
            (await self.get_state(Case)).shown = ""
            await self._restart()

    @rx.event(supersedes=True)
    async def choose(self, entry_id: str):
        """Open a row."""
        self.chosen = id_of(entry_id)
        yield
        await self._open()

    @rx.event(supersedes=True)
    async def step(self, by: int):
        """Go to the next row, or back: the keys J and K."""
        if not self.rows or by not in (1, -1):
            return
        at = next((i for i, row in enumerate(self.rows) if row.id == self.chosen), -1 if by > 0 else 1)
        self.chosen = self.rows[max(0, min(len(self.rows) - 1, at + by))].id
        yield
        await asyncio.sleep(SETTLE)
        await self._open()

    @rx.event
    async def leave(self):
        """Close the drawer: nothing is chosen."""
        self.chosen = ""
        (await self.get_state(Case)).shown = ""

    async def _open(self) -> None:
        row = next((row for row in self.rows if row.id == self.chosen), None)
        if row is not None:
            case = await self.get_state(Case)
            await (case._open_party(row.id) if row.is_party else case._open_attestation(row.id))


def _waiting(party: PartyView) -> Entry:
    return Entry(
        id=party.id, is_party=True, name=party.name, mark=party.mark, below=party.email or party.kind,
        country=party.country, level=party.level, accredited=party.accredited, status=party.status, at=party.created_at,
    )  # fmt: skip


def _attested(attestation: AttestationView) -> Entry:
    is_live = attestation.status in ("active", "expired")
    return Entry(
        id=attestation.id, is_party=False, name=attestation.name, mark=attestation.mark, below=attestation.chain,
        country=attestation.country, level=attestation.level, accredited=attestation.accredited,
        status=attestation.shown, at=attestation.expires_at if is_live else attestation.updated_at,
    )  # fmt: skip


def _fits(attestation: AttestationView, name: str) -> bool:
    """Whether a filter shows it."""
    return name == (attestation.shown if name == "expiring" else attestation.status)


def _many(*pages: tuple[list[Any], str | None]) -> str:
    count = sum(len(rows) for rows, _ in pages)
    return f"{count}+" if any(cursor for _, cursor in pages) else str(count)


lists["attestations"] = Queue
