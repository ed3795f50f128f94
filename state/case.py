"""The case in the drawer: a party with its attestations, or one attestation with its proof."""

import asyncio
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Loads
from state.attestation import AttestationView, Proof, attestation_view, proof_of
from state.chain_list import Chains, options
from state.dates import in_days
from state.document import DocumentView, document_view
from state.given import id_of
from state.party import PartyView, party_view
from state.requests import FINAL, Follows, Request, Tracker

lists: dict[str, Any] = {}
"""The last part of a page's path to the state that lists its cases."""


class Case(Follows, Loads, Chains, rx.State):
    """What an officer looks at. `shown` is empty, `party` or `attestation`."""

    shown: str = ""
    party: PartyView = PartyView()
    held: list[AttestationView] = []
    papers: list[DocumentView] = []
    attestation: AttestationView = AttestationView()
    proof: Proof = Proof()
    checking: bool = False
    chain_options: list[dict[str, str]] = []
    first_day: str = ""
    last_day: str = ""

    async def _open_party(self, party_id: str) -> None:
        """Show a party; what is known already stays until the rest is here."""
        if not (party_id := id_of(party_id)):
            return
        self.shown, self.request = "party", Request()
        if self.party.id != party_id:
            self.party, self.held, self.papers, self.loading = PartyView(id=party_id), [], [], True
        await self._read()

    async def _open_attestation(self, attestation_id: str) -> None:
        """Show an attestation; its proof is read from the chain."""
        if not (attestation_id := id_of(attestation_id)):
            return
        self.shown, self.request = "attestation", Request()
        if self.attestation.id != attestation_id:
            self.attestation, self.proof, self.loading = AttestationView(id=attestation_id), Proof(), True
        await self._read()

    async def _read(self) -> None:
        """Read what is shown once more."""
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
        path, ours = f"/identity/parties/{self.party.id}", {"organization_id": self.org_id}
        party, attestations, papers = await asyncio.gather(
            self._api("GET", path, params=ours),
            self._api("GET", "/orgs/{org}/attestations", params={"party_id": self.party.id, "limit": 20}),
            self._api("GET", f"{path}/documents", params=ours | {"limit": 50}),
        )
        self.party = party_view(party)
        self.held = [attestation_view(record, self) for record in attestations["attestations"]]
        self.papers = [document_view(document) for document in papers["documents"]]

    async def _read_attestation(self) -> None:
        record = await self._api("GET", f"/orgs/{{org}}/attestations/{self.attestation.id}")
        self.attestation, self.proof = attestation_view(record, self), proof_of(record, self)

    async def _refresh(self) -> None:
        """After a write: read the case again, and the list it stands in."""
        await self._read()
        await self._refresh_list()

    async def _refresh_list(self) -> None:
        wanted = lists.get(self.router.url.path.rstrip("/").rpartition("/")[2])
        if wanted is not None:
            await (await self.get_state(wanted))._again()

    async def _followed(self) -> None:
        await self._refresh()

    @rx.event
    async def enter(self):
        """A page with a drawer opens: it is closed, and the chains are those of this organization."""
        self.shown, self._chains, self.request = "", {}, Request()
        self.first_day, self.last_day = in_days(1), in_days(365)

    @rx.event
    def close(self):
        """Close the drawer."""
        self.shown = ""

    @rx.event
    async def reload(self):
        """Read it again after it failed."""
        await self._read()

    @rx.event
    async def uploaded(self):
        """The browser has sent a document: read the party again, whose review it may have begun."""
        if self.shown == "party":
            await self._refresh()

    @rx.event
    async def check(self):
        """Ask the chain once more."""
        if self.shown == "attestation":
            self.checking = True
            yield
            await self._read()
            self.checking = False

    @rx.event(supersedes=True)
    async def to_party(self, party_id: str):
        """Show the party of an attestation."""
        await self._open_party(party_id)

    @rx.event(supersedes=True)
    async def to_attestation(self, attestation_id: str):
        """Show one of the party's attestations."""
        await self._open_attestation(attestation_id)

    @rx.event
    async def retry(self):
        """Try the failed request again, and go on following it."""
        return [Tracker.retry(self.request.id), type(self).follow]

    @rx.event
    def put_away(self):
        """Stop showing a request that has ended."""
        if self.request.status in FINAL:
            self.request = Request()
