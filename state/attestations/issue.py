"""The dialog that issues an attestation."""

from datetime import tzinfo
from typing import Any

import reflex as rx

from backend.attestations.schemas import AttestationCreate, AttestationRead, AttestationStatus
from backend.client import ApiProblem, body
from state.attestations.checklist import Checklist
from state.attestations.detail import AttestationView, attestation_view
from state.attestations.revoked import revoked_of
from state.chains.lookup import Chains, ChainView
from state.core.arguments import id_of, typed
from state.core.dates import end_of, in_days
from state.core.dialogs import Dialog
from state.core.events import Events
from state.parties.detail import PartyView, levels_up_to, party_view, whole_number

UNVERIFIED_LEVELS = 3
"""Levels offered for a party that is not verified yet."""
FIELDS = ("chain_eid", "kyc_level", "accredited", "expires_at")


class Issue(Chains, Dialog, rx.State):
    """The form: party, chain, level, accreditation and expiry."""

    party: PartyView = PartyView()
    found: list[dict[str, Any]] = []
    found_for: str | None = None
    revoked: list[AttestationView] = []
    chain_options: list[dict[str, str]] = []
    levels: list[dict[str, str]] = []
    level: str = "1"
    first_day: str = ""
    last_day: str = ""

    @rx.event
    async def begin(self, party_id: str) -> Events:
        """Open the dialog for a party, or with a search for one."""
        self._done()
        self.party, self.found, self.revoked, self.is_open = PartyView(), [], [], True
        self.found_for = None
        zone = await self._zone()
        self.first_day, self.last_day = in_days(1, zone), in_days(365, zone)
        yield
        try:
            self.chain_options = _reachable(await self._read_chains(), {})
            if id_of(party_id):
                await self._take(id_of(party_id))
            else:
                await self._find("")
        except ApiProblem as problem:
            self._refused(problem)

    @rx.event
    def show(self, is_open: bool) -> None:
        """Open or close the dialog."""
        self.is_open = bool(is_open)

    @rx.event(supersedes=True)
    async def find(self, words: str) -> None:
        """Find parties by name, email or wallet."""
        try:
            await self._find(typed(words))
        except ApiProblem as problem:
            self._refused(problem)

    async def _find(self, words: str) -> None:
        page = await self._api.list_parties(organization_id=self._org_id(), q=words or None, limit=20)
        self.found, self.found_for = [_option(party_view(party)) for party in page.parties], words

    @rx.event
    async def pick(self, party_id: str) -> None:
        """Select the party."""
        try:
            if id_of(party_id):
                await self._take(id_of(party_id))
        except ApiProblem as problem:
            self._refused(problem)

    async def _take(self, party_id: str) -> None:
        self.party = party_view(await self._api.get_party(party_id, organization_id=self._org_id()))
        records = (await self._api.list_attestations(self._org_id(), party_id=party_id, limit=100)).attestations
        self.revoked = [attestation_view(record, self) for record in revoked_of(records)]
        self.chain_options = _reachable(self._chains, active_words(records, self.party.wallet, await self._zone()))
        self.levels = levels_up_to(self.party.level or UNVERIFIED_LEVELS)
        self.level, self.errors, self.form_problem = str(self.party.level or 1), {}, ""

    @rx.event
    async def another(self) -> None:
        """Select another party."""
        self.party = PartyView()
        try:
            await self._find("")
        except ApiProblem as problem:
            self._refused(problem)

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Issue the attestation; if prerequisites are missing, the checklist opens instead."""
        self._begin()
        yield
        checklist = await self.get_state(Checklist)
        try:
            wanted = body(AttestationCreate, self._fields(data, await self._zone()))
            accepted = await checklist._attempt(wanted, self.party.name, self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*FIELDS)
            return
        except ValueError as error:
            self.errors, self.saving = {"expires_at" if self.party.id else "party_id": str(error)}, False
            self._keep_at(*FIELDS)
            return
        self._close()
        yield Checklist.watch if accepted is None else await checklist._issued(accepted, self.party.name)

    def _fields(self, data: dict[str, Any], zone: tzinfo) -> dict[str, Any]:
        """Return the body's fields. An unverified party gets the level and accreditation of its future verification.

        Raises ValueError without a party, and for an invalid date.
        """
        if not self.party.id:
            raise ValueError("Choose a party")
        fields: dict[str, Any] = {"party_id": self.party.id, "chain_eid": whole_number(data.get("chain_eid"))}
        if expires_at := end_of(str(data.get("expires_at", ""))[:20], zone):
            fields["expires_at"] = expires_at
        if self.party.status == "verified":
            fields |= {"kyc_level": whole_number(data.get("kyc_level")), "accredited": bool(data.get("accredited"))}
        return fields


def active_words(records: list[AttestationRead], wallet: str, zone: tzinfo) -> dict[int, str]:
    """Return, for each chain where a wallet has an active attestation, how long it is active."""
    found: dict[int, str] = {}
    for record in records:
        if record.status is AttestationStatus.ACTIVE and record.wallet_address.lower() == wallet.lower():
            at = record.expires_at
            words = f"active until {at.astimezone(zone):%-d %b %Y}" if at else "active, never expires"
            found.setdefault(record.chain_eid, words)
    return found


def _reachable(chains: dict[int, ChainView], active: dict[int, str]) -> list[dict[str, str]]:
    """Return chains with our contracts, enabled ones first; the checklist enables one that is not. `active` says where
    the party is attested already."""
    known = sorted((c for c in chains.values() if c.enabled or c.factory), key=lambda chain: not chain.enabled)
    return [{"value": str(c.eid), "label": _label(c, active.get(c.eid, ""))} for c in known]


def _label(chain: ChainView, active: str) -> str:
    name = chain.name if chain.enabled else f"{chain.name}, not enabled"
    return f"{name}: {active}" if active else name


def _option(party: PartyView) -> dict[str, Any]:
    words = {"verified": f"Level {party.level}", "rejected": "Rejected"}.get(party.status, "Not verified")
    return {
        "id": party.id,
        "label": party.name,
        "sub": party.email or party.country_name,
        "hint": words,
        "mark": party.mark,
    }
