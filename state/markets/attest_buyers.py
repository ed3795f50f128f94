"""The next step where no party could buy in a planned market: attest those that then could, and plan again."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import reflex as rx

from backend.attestations.schemas import AttestationBatch, AttestationStatus
from backend.client import ApiProblem, body
from backend.issuers.schemas import IssuerRegister, IssuerStatus
from backend.parties.schemas import Party, PartyStatus
from state.attestations.bulk_items import listed
from state.attestations.revoked import read_revoked
from state.compliance.rules import Checked, InvalidFields, checked
from state.core.api import Form
from state.core.dates import end_of, in_days
from state.core.events import Events
from state.issuers.temporary_key import RegistersIssuer
from state.markets.wizard import MarketWizard
from state.requests.endings import end_of_all
from state.requests.tracker import Tracker

MOST = 1_000
"""Attestations that are read to find the parties that have one on the chain."""
NAMED = 12
"""Parties that are named beside the offer: all of a few, so that they can be read before the click."""


class AttestBuyers(RegistersIssuer, Form, rx.State):
    """The offer to attest the parties below a plan without buyers; the issuer is registered first if it is missing."""

    count: int = 0
    chain: str = ""
    doing: str = ""
    is_looking: bool = True
    """Whether the parties are being read."""
    is_known: bool = False
    """Whether the parties could be read."""
    people: str = ""
    """Who would be attested, by name."""
    omitted: str = ""
    """The parties that are not attested because their attestation on the chain was revoked."""
    lacks_issuer: bool = False
    is_running: bool = False
    problem: str = ""
    _parties: list[str] = []
    _eid: int = 0
    _key: str = ""
    _registration: str = ""
    """The request that registers the issuer, which the attestations wait for."""

    @rx.event
    async def look(self) -> None:
        """Find the parties that could buy after an attestation; without permission (403) offer nothing."""
        await self._look()
        self.is_looking = False

    async def _look(self) -> None:
        wizard = await self.get_state(MarketWizard)
        self._done()
        self.count, self.doing, self.is_running, self.problem, self._parties = 0, "", False, "", []
        self.is_known, self.people, self.omitted, self._registration = False, "", "", ""
        self._eid, self.chain, self._key = wizard.target.eid, wizard.target.name, str(uuid4())
        try:
            rules = checked(wizard.draft, wizard.decimals)
            page = await self._api.list_parties(organization_id=self._org_id(), status=PartyStatus.VERIFIED, limit=100)
            attested = await self._attested()
            self.lacks_issuer = not await self._has_issuer()
            able = attestable(page.parties, attested, rules)
            revoked = await self._revoked(able)
        except InvalidFields:
            return
        except ApiProblem as problem:
            await self._lacks("The parties", problem)
            return
        self._parties = [party_id for party_id in able if party_id not in revoked]
        names = {str(party.id): party.name for party in page.parties}
        self.omitted = omitted_words([names[party_id] for party_id in able if party_id in revoked], self.chain)
        self.people = listed([names[party_id] for party_id in self._parties], NAMED)
        self.count, self.is_known = len(self._parties), True

    async def _has_issuer(self) -> bool:
        """Return whether the organization is a registered issuer on the chain."""
        try:
            issuer = await self._api.get_issuer(self._org_id())
        except ApiProblem as problem:
            if problem.status == HTTPStatus.NOT_FOUND:
                return False
            raise
        return any(one.chain_eid == self._eid and one.status is IssuerStatus.REGISTERED for one in issuer.wallets)

    @rx.event
    async def register(self, data: dict[str, Any]) -> Events:
        """Register as an issuer with a key that is valid for 5 minutes, to which the user has agreed; then attest."""
        if not data.get("consent"):
            self.errors = {"consent": "The console creates the key only with your consent"}
            return
        if self.is_running:
            return
        self._begin()
        self.problem = ""
        yield
        try:
            self._registration = await self._register_issuer(IssuerRegister())
        except ApiProblem as problem:
            self._refused(problem)
            self.problem = problem.detail or problem.title
            return
        self._done()
        yield [Tracker.watch, AttestBuyers.attest]

    async def _attested(self) -> set[str]:
        """Return the parties with an attestation on the chain."""
        found, read = set(), 0
        async for one in self._api.list_attestations(self._org_id(), status=AttestationStatus.ACTIVE, limit=100):
            read += 1
            if one.chain_eid == self._eid:
                found.add(str(one.party_id))
            if read == MOST:
                break
        return found

    async def _revoked(self, parties: list[str]) -> set[str]:
        """Return the parties whose latest attestation on the chain was revoked."""
        found = {party_id: await read_revoked(self._api, self._org_id(), party_id) for party_id in parties}
        return {party_id for party_id, some in found.items() if any(one.chain_eid == self._eid for one in some)}

    @rx.event(background=True)
    async def attest(self) -> Events:
        """Attest the parties for a year, wait for the chain, and plan again. A repeat continues."""
        async with self:
            if self.is_running or not self._parties:
                return
            self.is_running, self.doing, self.problem = True, "", ""
            registration, self._registration = self._registration, ""
            if registration:
                self.doing = f"Registering the issuer on {self.chain}"
            org_id, parties, eid, key = self._org_id(), list(self._parties), self._eid, self._key
        waited = await end_of_all(self._api, org_id, [registration] if registration else [], "the issuer")
        if waited:
            async with self:
                self.is_running, self.problem = False, waited
            return
        problem = ""
        requests: list[str] = []
        ends = end_of(in_days(365))
        items = [{"party_id": party, "chain_eid": eid, "expires_at": ends} for party in parties]
        try:
            answer = await self._api.create_attestations(
                org_id, body(AttestationBatch, {"items": items}), idempotency_key=key
            )
        except ApiProblem as refusal:
            problem = refusal.detail or refusal.title
        else:
            requests = [str(one.acceptance.request_id) for one in answer.results if one.acceptance]
            problem = next((str(one.problem["detail"]) for one in answer.results if one.problem), "")
        problem = await end_of_all(self._api, org_id, requests, "the attestations", self._note) or problem
        async with self:
            self.is_running, self.problem, self._key = False, problem, str(uuid4())
            self.lacks_issuer = self.lacks_issuer and not registration
            if problem:
                return
        yield MarketWizard.make_plan

    async def _note(self, done: int) -> None:
        async with self:
            self.doing = f"{done} of {self.count} attested"


def attestable(parties: Iterable[Party], attested: set[str], rules: Checked) -> list[str]:
    """Return the IDs of the verified parties that could buy with an attestation, under a market's rules."""
    return [
        str(party.id)
        for party in parties
        if party.wallet_address
        and str(party.id) not in attested
        and party.kyc_level >= max(rules.level, 1)
        and (party.accredited or not rules.accredited)
        and party.country not in rules.countries
    ]


def omitted_words(names: list[str], chain: str) -> str:
    """Say which parties are not attested because their attestations were revoked; otherwise an empty string."""
    if not names:
        return ""
    are, their = ("is", "its attestation") if len(names) == 1 else ("are", "their attestations")
    count = "1 investor" if len(names) == 1 else f"{len(names)} investors"
    was = "was" if len(names) == 1 else "were"
    return f"{count} {are} omitted, because {their} on {chain} {was} revoked: {listed(names)}. Review each case first."
