"""The next step where no party could buy in a planned market: attest those that then could, and plan again."""

from collections.abc import Iterable
from uuid import uuid4

import reflex as rx

from backend.attestations.schemas import AttestationBatch, AttestationStatus
from backend.client import ApiProblem, body
from backend.parties.schemas import Party, PartyStatus
from state.compliance.rules import Checked, InvalidFields, checked
from state.core.api import Api
from state.core.dates import end_of, in_days
from state.core.events import Events
from state.markets.wizard import MarketWizard
from state.requests.endings import end_of_all

MOST = 1_000
"""Attestations that are read to find the parties that have one on the chain."""


class AttestBuyers(Api, rx.State):
    """The offer to attest the parties below a plan without buyers."""

    count: int = 0
    chain: str = ""
    done: int = 0
    is_running: bool = False
    problem: str = ""
    _parties: list[str] = []
    _eid: int = 0
    _key: str = ""

    @rx.event
    async def look(self) -> None:
        """Find the parties that could buy after an attestation; without permission (403) offer nothing."""
        wizard = await self.get_state(MarketWizard)
        self.count, self.done, self.is_running, self.problem, self._parties = 0, 0, False, "", []
        self._eid, self.chain, self._key = wizard.target.eid, wizard.target.name, str(uuid4())
        try:
            rules = checked(wizard.draft, wizard.decimals)
            page = await self._api.list_parties(organization_id=self._org_id(), status=PartyStatus.VERIFIED, limit=100)
            attested = await self._attested()
        except InvalidFields:
            return
        except ApiProblem as problem:
            await self._lacks("The parties", problem)
            return
        self._parties = attestable(page.parties, attested, rules)
        self.count = len(self._parties)

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

    @rx.event(background=True)
    async def attest(self) -> Events:
        """Attest the parties for a year, wait for the chain, and plan again. A repeat continues."""
        async with self:
            if self.is_running or not self._parties:
                return
            self.is_running, self.done, self.problem = True, 0, ""
            org_id, parties, eid, key = self._org_id(), list(self._parties), self._eid, self._key
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
            if problem:
                return
        yield MarketWizard.make_plan

    async def _note(self, done: int) -> None:
        async with self:
            self.done = done


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
