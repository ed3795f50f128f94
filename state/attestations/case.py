"""The case in the drawer: a party with its attestations, or one attestation with its proof."""

import asyncio
from collections.abc import Awaitable
from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.parties.schemas import PartyRead
from state.attestations.detail import AttestationView, attestation_view
from state.attestations.proof import ProofView, proof_view
from state.attestations.revoked import revoked_of
from state.chains.lookup import Chains, options
from state.core.address import Param, opened
from state.core.api import Loads
from state.core.arguments import id_of
from state.core.dates import in_days
from state.core.events import Events
from state.core.holder_picker import name_of
from state.core.marks import Marks
from state.parties.detail import PartyView, party_view
from state.parties.document import DocumentView, document_view
from state.requests.tracker import Follows
from state.requests.views import RequestView

LISTS: dict[str, type["CaseList"]] = {}
"""The state that lists a page's cases, by the last part of the page's path."""
SHOWN = 20
"""Attestations of a party that the drawer lists."""
SETTLE = 0.12
"""Seconds a row must stay selected before it is read: keys repeat faster than that."""


class Case(Follows, Loads, Chains, rx.State):
    """The case that an officer views. `shown` is empty, `party` or `attestation`."""

    shown: str = ""
    party: PartyView = PartyView()
    _version: str = ""
    """The version of the party, for decisions about it."""
    attestations: list[AttestationView] = []
    revoked: list[AttestationView] = []
    """The party's latest attestation on each chain where it was revoked."""
    documents: list[DocumentView] = []
    attestation: AttestationView = AttestationView()
    proof: ProofView = ProofView()
    checking: bool = False
    is_partial: bool = False
    """Whether the party shows what its list knows, until the rest has loaded."""
    chain_options: list[dict[str, str]] = []
    first_day: str = ""
    last_day: str = ""

    def _show_known(self, party: PartyView) -> None:
        """Show what a list knows of a party, before the rest is read."""
        self.shown, self.request, self.problem = "party", RequestView(), ""
        if self.party.id != party.id:
            self.party, self.attestations, self.documents, self._version = party, [], [], ""
            self.revoked = []
            self.loading, self.is_partial = False, True

    async def _open_party(self, party_id: str) -> None:
        """Show a party; known fields stay until the rest has loaded."""
        if not (party_id := id_of(party_id)):
            return
        self.shown, self.request = "party", RequestView()
        if self.party.id != party_id:
            self.party, self.attestations, self.documents, self.loading = PartyView(id=party_id), [], [], True
            self._version, self.revoked = "", []
        await self._read()

    async def _open_attestation(self, attestation_id: str) -> None:
        """Show an attestation and read its proof from the chain."""
        if not (attestation_id := id_of(attestation_id)):
            return
        self.shown, self.request = "attestation", RequestView()
        if self.attestation.id != attestation_id:
            self.attestation, self.proof, self.loading = AttestationView(id=attestation_id), ProofView(), True
        await self._read()

    async def _read(self) -> None:
        """Read the shown case again."""
        if not self.shown:
            return
        try:
            if not self._chains:
                self.chain_options = options(await self._read_chains())
            await (self._read_party() if self.shown == "party" else self._read_attestation())
            self._loaded()
        except ApiProblem as problem:
            self._failed(problem)

    async def _read_party(self) -> None:
        api, org, id = self._api, self._org_id(), self.party.id
        (self._version, party), attestations, documents = await asyncio.gather(
            self._with_version(api.get_party(id, organization_id=org)),
            api.list_attestations(org, party_id=id, limit=100),
            api.list_documents(id, organization_id=org, limit=50),
        )
        self.party = party_view(party)
        self.attestations = [attestation_view(record, self) for record in attestations.attestations[:SHOWN]]
        self.revoked = [attestation_view(record, self) for record in revoked_of(attestations.attestations)]
        self.documents = [document_view(document) for document in documents.documents]
        self.is_partial = False

    async def _with_version(self, call: Awaitable[PartyRead]) -> tuple[str, PartyRead]:
        """Return the version of a party and the party; collects only in a task of its own."""
        with self._api.response_headers() as headers:
            party = await call
        return headers["etag"], party

    async def _read_attestation(self) -> None:
        record = await self._api.get_attestation(self._org_id(), self.attestation.id)
        proof = proof_view(record, self)
        proof.attester_name = await name_of(self._api, self._org_id(), proof.attester)
        self.attestation, self.proof = attestation_view(record, self), proof

    async def _refresh(self) -> None:
        """Read the case and its list again after a write."""
        await self._read()
        await self._refresh_list()

    async def _refresh_list(self) -> None:
        wanted = LISTS.get(self.router.url.path.rstrip("/").rpartition("/")[2])
        if wanted is not None:
            await (await self.get_state(wanted))._refresh()

    async def _followed(self) -> None:
        await self._refresh()

    @rx.event
    async def enter(self) -> None:
        """Close the drawer and read the organization's chains when a page with a drawer opens."""
        self.shown, self._chains, self.request = "", {}, RequestView()
        zone = await self._zone()
        self.first_day, self.last_day = in_days(1, zone), in_days(365, zone)

    @rx.event
    def close(self) -> None:
        """Close the drawer."""
        self.shown = ""

    @rx.event
    async def reload(self) -> None:
        """Read the case again after a failure."""
        await self._read()

    @rx.event
    async def uploaded(self) -> None:
        """Read the party again after an upload, which may have started its review."""
        if self.shown == "party":
            await self._refresh()

    @rx.event
    async def check(self) -> Events:
        """Read the proof from the chain again."""
        if self.shown == "attestation":
            self.checking = True
            yield
            await self._read()
            self.checking = False

    @rx.event(supersedes=True)
    async def to_party(self, party_id: str) -> None:
        """Show the party of the attestation."""
        await self._open_party(party_id)

    @rx.event(supersedes=True)
    async def to_attestation(self, attestation_id: str) -> None:
        """Show one of the party's attestations."""
        await self._open_attestation(attestation_id)


class CaseList(Marks, mixin=True):
    """Mixin of a list whose rows open in the drawer. Declare `rows` and implement `_open`.

    It provides the handlers `choose`, `step` and `leave`.
    """

    _in_url: ClassVar[dict[str, Param]] = {"id": opened("chosen")}

    async def _open(self) -> None:
        """Show the row `chosen` in the drawer."""
        raise NotImplementedError

    async def _preview(self) -> None:
        """Show immediately what the list knows of the row `chosen`, where it knows the record."""

    async def _refresh(self) -> None:
        """Read the current page again after a write."""
        await self._page()

    @rx.event(supersedes=True)
    async def choose(self, row_id: str) -> Events:
        """Open a row."""
        self.chosen = id_of(row_id)
        await self._preview()
        yield
        await self._open()

    @rx.event(supersedes=True)
    async def step(self, by: int) -> Events:
        """Go to the next or previous row: keys J and K."""
        if not self.rows or by not in (1, -1):
            return
        at = next((i for i, row in enumerate(self.rows) if row.id == self.chosen), -1 if by > 0 else 1)
        self.chosen = self.rows[max(0, min(len(self.rows) - 1, at + by))].id
        await self._preview()
        yield
        await asyncio.sleep(SETTLE)  # no poll: keys repeat faster
        await self._open()

    @rx.event
    async def leave(self) -> None:
        """Close the drawer and clear the selection."""
        self.chosen = ""
        (await self.get_state(Case)).shown = ""
