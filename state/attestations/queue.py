"""The officer's queue: parties to review, and attestations by status."""

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, ClassVar

import reflex as rx

from backend.attestations.schemas import AttestationList, AttestationStatus
from backend.client import ApiProblem
from backend.parties.schemas import PartyList, PartyStatus
from state.attestations.case import LISTS, Case, CaseList
from state.attestations.detail import AttestationView, attestation_view
from state.chains.lookup import Chains
from state.core.address import Param, choice
from state.core.events import Events
from state.core.units import shortened
from state.parties.detail import WAITING, PartyView, party_view


@dataclass(frozen=True)
class Filter:
    """What a filter selects of the attestations."""

    status: AttestationStatus | None = None
    expiring_days: int | None = None


EXPIRING_DAYS = 30
REVIEW = "review"
FILTERS = {
    "pending": Filter(AttestationStatus.PENDING),
    "active": Filter(AttestationStatus.ACTIVE),
    "expiring": Filter(expiring_days=EXPIRING_DAYS),
    "expired": Filter(AttestationStatus.EXPIRED),
    "revoked": Filter(AttestationStatus.REVOKED),
    "failed": Filter(AttestationStatus.FAILED),
}
"""The filters of attestations; `review` shows parties instead."""
BY_EXPIRY = ("active", "expiring", "expired")
"""The filters whose rows show an expiry, and sort by it."""


@dataclass
class EntryView:
    """A row of the queue; `at` is when it started to wait, when it expires, or when it expired."""

    id: str
    party_id: str
    eid: int
    is_party: bool
    name: str
    mark: str
    below: str
    wallet: str
    """The wallet of an attestation, with its label."""
    country: str
    country_name: str
    level: int
    accredited: bool
    status: str
    at: str
    short_wallet: str = ""
    """The address alone, which tells several attestations of one party apart."""


class Queue(CaseList, Chains, rx.State):
    """The list on the attestations page. Attestations sort by their expiry, the soonest first; reviews are read
    one status after the other."""

    rows: list[EntryView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at", "expires_at")
    show: str = REVIEW
    _in_url: ClassVar[dict[str, Param]] = {"show": choice("show", (REVIEW, *FILTERS), REVIEW)}
    counts: dict[str, str] = {}
    _listed: dict[str, PartyView] = {}
    """The listed parties, by ID."""

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        if self.show not in BY_EXPIRY:
            self.sort, self.down, self.is_sorted = "", True, False
        if self.show == REVIEW:
            return await self._fetch_waiting(cursor)
        order = self._by_expiry() if self.show in BY_EXPIRY else {}
        page = await self._attestations(FILTERS[self.show], cursor=cursor or None, order=order)
        rows = [_attested(attestation_view(record, self)) for record in page.attestations]
        self.rows = rows
        return page.nextCursor

    def _by_expiry(self) -> dict[str, Any]:
        """Return the API's parameters for the order: by expiry, the soonest first unless the address says otherwise."""
        order = self._order()
        if self.is_sorted:
            return order
        self.sort, self.down = "expires_at", self.show == "expired"
        return {"sort": "expires_at", "order": "desc" if self.down else "asc"}

    async def _fetch_waiting(self, cursor: str) -> str | None:
        """Read parties, one status after the other; the cursor names its status."""
        name, _, at = cursor.partition(":")
        status, at = (PartyStatus(name), at) if name in WAITING else (WAITING[0], "")
        page = await self._parties(status, at, 50)
        rows, following = page.parties, _cursor(status, page)
        if following is None and status is WAITING[0]:
            more = await self._parties(WAITING[1], "", 50)
            rows, following = rows + more.parties, _cursor(WAITING[1], more)
        self._listed = {str(party.id): party_view(party) for party in rows}
        self.rows = [_waiting(party) for party in self._listed.values()]
        return following

    async def _parties(self, status: PartyStatus, cursor: str, limit: int) -> PartyList:
        return await self._api.list_parties(
            organization_id=self._org_id(), status=status, cursor=cursor or None, limit=limit
        )

    async def _attestations(
        self,
        shown: Filter,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        order: dict[str, Any] | None = None,
    ) -> AttestationList:
        return await self._api.list_attestations(
            self._org_id(),
            status=shown.status,
            expiring_days=shown.expiring_days,
            cursor=cursor,
            limit=limit,
            **(order or {}),
        )

    async def _count(self) -> None:
        """Count each filter's entries: from one page if it holds everything, else from each filter's first page."""
        try:
            self.counts = await self._count_waiting() | await self._count_attestations()
        except ApiProblem as problem:
            self.counts = {}
            await self._lacks("The counts of cases", problem)

    async def _count_waiting(self) -> dict[str, str]:
        pages = [await self._parties(status, "", 100) for status in WAITING]
        return {REVIEW: _total(*((page.parties, page.nextCursor) for page in pages))}

    async def _count_attestations(self) -> dict[str, str]:
        everything = await self._attestations(Filter(), limit=100)
        if everything.nextCursor is None:
            views = [attestation_view(record, self) for record in everything.attestations]
            return {name: str(sum(_matches(one, name) for one in views)) for name in FILTERS}
        pages = {name: await self._attestations(shown, limit=100) for name, shown in FILTERS.items()}
        return {name: _total((page.attestations, page.nextCursor)) for name, page in pages.items()}

    async def _refresh(self) -> None:
        """Read the current page and the counts again."""
        await self._page()
        await self._count()

    @rx.event
    async def load(self) -> Events:
        """Read the first page of the filter in the URL; `?id=` opens a case."""
        self._read_url()
        self._chains = {}
        await self._restart()
        await self._preview()
        yield
        if not self.problem:
            await self._count()
        if self.chosen:
            case = await self.get_state(Case)
            await (case._open_party(self.chosen) if self.show == REVIEW else case._open_attestation(self.chosen))

    @rx.event(supersedes=True)
    async def pick_filter(self, name: str) -> None:
        """Show one kind of case."""
        if name == REVIEW or name in FILTERS:
            self.show, self.chosen = name, ""
            (await self.get_state(Case)).shown = ""
            await self._restart()

    async def _preview(self) -> None:
        if self.show == REVIEW and self.chosen in self._listed:
            (await self.get_state(Case))._show_known(self._listed[self.chosen])

    async def _open(self) -> None:
        row = next((row for row in self.rows if row.id == self.chosen), None)
        if row is not None:
            case = await self.get_state(Case)
            await (case._open_party(row.id) if row.is_party else case._open_attestation(row.id))


def _waiting(party: PartyView) -> EntryView:
    return EntryView(
        id=party.id, party_id=party.id, eid=0, is_party=True, name=party.name, mark=party.mark,
        below=party.email or party.kind, wallet="", country=party.country, country_name=party.country_name,
        level=party.level, accredited=party.accredited, status=party.status, at=party.created_at,
    )  # fmt: skip


def _attested(attestation: AttestationView) -> EntryView:
    is_live = attestation.status in ("active", "expired")
    return EntryView(
        id=attestation.id, party_id=attestation.party_id, eid=attestation.eid, is_party=False, name=attestation.name,
        mark=attestation.mark, below=attestation.chain, wallet=attestation.wallet_words,
        short_wallet=shortened(attestation.wallet),
        country=attestation.country, country_name=attestation.country_name, level=attestation.level,
        accredited=attestation.accredited,
        status=attestation.shown, at=attestation.expires_at if is_live else attestation.updated_at,
    )  # fmt: skip


def _matches(attestation: AttestationView, name: str) -> bool:
    """Return whether a filter shows the attestation."""
    return name == (attestation.shown if name == "expiring" else attestation.status)


def _cursor(status: PartyStatus, page: PartyList) -> str | None:
    return f"{status}:{page.nextCursor}" if page.nextCursor else None


def _total(*pages: tuple[Sized, str | None]) -> str:
    count = sum(len(rows) for rows, _ in pages)
    return f"{count}+" if any(cursor for _, cursor in pages) else str(count)


LISTS["attestations"] = Queue
