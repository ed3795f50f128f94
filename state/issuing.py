"""The dialog that issues an attestation."""

from typing import Any

import reflex as rx
from pydantic import ValidationError

from backend.attestations.schemas import AttestationCreate
from backend.client import ApiProblem
from state.api import Form
from state.attesting import Checklist
from state.chain_list import Chains, ChainView
from state.dates import end_of, in_days
from state.fields import findings
from state.given import id_of
from state.party import PartyView, levels_up_to, party_view

UNVERIFIED_LEVELS = 3
"""Levels offered of a party that nobody has verified yet."""
FIELDS = ("chain_eid", "kyc_level", "accredited", "expires_at")


class Issue(Chains, Form, rx.State):
    """Whom, on which chain, what is said, and until when."""

    is_open: bool = False
    party: PartyView = PartyView()
    found: list[dict[str, Any]] = []
    chain_options: list[dict[str, str]] = []
    levels: list[dict[str, str]] = []
    level: str = "1"
    first_day: str = ""
    last_day: str = ""

    @rx.event
    async def begin(self, party_id: str):
        """Open the dialog, for a party or for one to be found."""
        self._done()
        self.party, self.found, self.is_open = PartyView(), [], True
        self.first_day, self.last_day = in_days(1), in_days(365)
        yield
        try:
            self.chain_options = _reachable(await self._read_chains())
            if id_of(party_id):
                await self._take(id_of(party_id))
            else:
                await self._find("")
        except ApiProblem as problem:
            self._refused(problem)

    @rx.event
    def show(self, is_open: bool):
        """Open or close it."""
        self.is_open = bool(is_open)

    @rx.event(supersedes=True)
    async def find(self, words: str):
        """Find parties by name, email or wallet."""
        try:
            await self._find(str(words)[:100])
        except ApiProblem as problem:
            self._refused(problem)

    async def _find(self, words: str) -> None:
        query = {"organization_id": self.org_id, "search": words, "limit": 20}
        page = await self._api("GET", "/identity/parties", params=query)
        self.found = [_option(party_view(party)) for party in page["parties"]]

    @rx.event
    async def pick(self, party_id: str):
        """Choose the party."""
        try:
            if id_of(party_id):
                await self._take(id_of(party_id))
        except ApiProblem as problem:
            self._refused(problem)

    async def _take(self, party_id: str) -> None:
        query = {"organization_id": self.org_id}
        self.party = party_view(await self._api("GET", f"/identity/parties/{party_id}", params=query))
        self.levels = levels_up_to(self.party.level or UNVERIFIED_LEVELS)
        self.level, self.errors, self.form_problem = str(self.party.level or 1), {}, ""

    @rx.event
    async def another(self):
        """Choose another party."""
        self.party = PartyView()
        try:
            await self._find("")
        except ApiProblem as problem:
            self._refused(problem)

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Issue it; where something has to be done first, the checklist opens in its place."""
        self._begin()
        yield
        checklist = await self.get_state(Checklist)
        try:
            body = self._body(data)
            answer = await checklist._attempt(body, self.party.name, self._form_key)
        except (ApiProblem, ValidationError, ValueError) as problem:
            self._blame(problem)
            return
        self._done()
        self.is_open = False
        yield Checklist.watch if answer is None else await checklist._issued(answer, self.party.name)

    def _body(self, data: dict[str, Any]) -> AttestationCreate:
        """What was filled in. Level and accreditation of an unverified party are what its verification will say."""
        if not self.party.id:
            raise ValueError("Choose a party")
        given: dict[str, Any] = {
            "party_id": self.party.id,
            "chain_eid": _number(data.get("chain_eid")),
            "expires_at": end_of(str(data.get("expires_at", ""))[:20]),
        }
        if self.party.status == "verified":
            given |= {"kyc_level": _number(data.get("kyc_level")), "accredited": bool(data.get("accredited"))}
        return AttestationCreate.model_validate(given)

    def _blame(self, problem: Exception) -> None:
        if isinstance(problem, ApiProblem):
            self._refused(problem)
        elif isinstance(problem, ValidationError):
            self.errors, self.saving = findings(problem), False
        else:
            self.errors, self.saving = {"expires_at" if self.party.id else "party_id": str(problem)}, False
        self._keep_at(*FIELDS)


def _reachable(chains: dict[int, ChainView]) -> list[dict[str, str]]:
    """Chains with our contracts, enabled ones first; one that is not enabled is asked for by the checklist."""
    known = sorted((c for c in chains.values() if c.enabled or c.factory), key=lambda chain: not chain.enabled)
    return [{"value": str(c.eid), "label": c.name if c.enabled else f"{c.name}, not enabled"} for c in known]


def _option(party: PartyView) -> dict[str, Any]:
    words = {"verified": f"Level {party.level}", "rejected": "Rejected"}.get(party.status, "Not verified")
    return {
        "id": party.id,
        "label": party.name,
        "sub": party.email or party.country_name,
        "hint": words,
        "mark": party.mark,
    }


def _number(value: Any) -> Any:
    text = str(value or "")
    return int(text) if text.isascii() and text.isdigit() else text
