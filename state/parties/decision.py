"""An officer's decision about the party in the drawer."""

from typing import Any

import reflex as rx

from backend.attestations.schemas import AttestationCreate
from backend.client import ApiProblem, body
from backend.parties.schemas import PartyReject, PartyVerify
from state.attestations.case import Case
from state.attestations.checklist import Checklist
from state.core.arguments import id_of, number
from state.core.dates import end_of
from state.core.edits import Edits
from state.core.events import Events
from state.parties.detail import values_of, verification
from state.requests.tracker import Tracker


class Decision(Edits, rx.State):
    """Verify, with an attestation on a selected chain; or reject."""

    deciding: str = ""
    rejecting: bool = False

    async def _latest(self) -> tuple[dict[str, str], str]:
        case = await self.get_state(Case)
        await case._read()
        return values_of(case.party), case._version

    async def _decide(self, case: Case) -> None:
        """Begin with the party as the drawer shows it."""
        self._known, self._version = values_of(case.party), case._version

    @rx.event
    async def begin(self, party_id: str) -> None:
        """Change an earlier decision about a party."""
        self._done()
        self.deciding = id_of(party_id)

    @rx.event
    def show_reject(self, is_open: bool) -> None:
        """Open or close the dialog that rejects."""
        self._done()
        self.rejecting = bool(is_open)

    def _leave(self) -> None:
        self.rejecting = False

    @rx.event
    async def verify(self, data: dict[str, Any]) -> Events:
        """Verify the identity at this level, and attest it on the selected chain."""
        case = await self.get_state(Case)
        party, eid = case.party, number(data.get("chain_eid"))
        self._begin()
        await self._decide(case)
        yield
        try:
            decision = body(PartyVerify, verification(data))
            expires_at = end_of(str(data.get("expires_at", ""))[:20], await self._zone()) if eid else None
            await self._api.verify_party(party.id, decision, if_match=self._version)
        except ApiProblem as problem:
            await self._show_refusal(problem, party.id)
            return
        except ValueError as error:
            self.errors, self.saving = {"expires_at": str(error)}, False
            return
        self._done()
        self.deciding = ""
        if not eid:
            await self._notify(f"{party.name} is verified", f"KYC level {decision.kyc_level}")
            await case._refresh()
            return
        fields = {"party_id": party.id, "chain_eid": eid} | ({"expires_at": expires_at} if expires_at else {})
        async for events in self._attest(case, fields):
            yield events

    async def _attest(self, case: Case, fields: dict[str, Any]) -> Events:
        """Issue the attestation; the party stays verified even if this fails."""
        name, checklist = case.party.name, await self.get_state(Checklist)
        self._begin()
        try:
            accepted = await checklist._attempt(body(AttestationCreate, fields), name, self._form_key)
        except ApiProblem as problem:
            await self._notify(f"{name} is verified, but not attested", problem.detail, "bad")
            self._done()
            await case._refresh()
            return
        self._done()
        if accepted is not None:
            yield await checklist._issued(accepted, name)
            return
        await case._refresh()
        yield Checklist.watch

    @rx.event
    async def reject(self, data: dict[str, Any]) -> Events:
        """Reject the identity, with a reason."""
        case = await self.get_state(Case)
        party = case.party
        self._begin()
        await self._decide(case)
        yield
        try:
            rejection = body(PartyReject, {"reason": str(data.get("reason", ""))})
            await self._api.reject_party(party.id, rejection, if_match=self._version)
        except ApiProblem as problem:
            await self._show_refusal(problem, party.id)
            return
        self._done()
        self.rejecting, self.deciding = False, ""
        await self._notify(f"{party.name} is rejected", rejection.reason, "info")
        await case._refresh()
        yield Tracker.watch

    async def _show_refusal(self, problem: ApiProblem, party_id: str) -> None:
        await self._reject(problem, "kyc_level", "accredited", "reason", "expires_at")
        if self.others:  # another person may have decided: the form stays open for a second decision
            self.deciding = party_id
