"""An officer's decision about the party in the drawer."""

from typing import Any

import reflex as rx
from pydantic import ValidationError

from backend.attestations.schemas import AttestationCreate
from backend.client import ApiProblem
from backend.parties.schemas import PartyReject, PartyVerify
from state.api import Form
from state.attesting import Checklist
from state.case import Case
from state.dates import end_of
from state.fields import findings
from state.given import id_of
from state.requests import Tracker


class Decision(Form, rx.State):
    """Verify, with an attestation in the same go where a chain is chosen; or reject."""

    deciding: str = ""
    rejecting: bool = False

    @rx.event
    async def begin(self, party_id: str):
        """Decide anew about a party that was decided about before."""
        self._done()
        self.deciding = id_of(party_id)

    @rx.event
    def show_reject(self, is_open: bool):
        """Open or close the dialog that rejects."""
        self._done()
        self.rejecting = bool(is_open)

    @rx.event
    async def verify(self, data: dict[str, Any]):
        """The identity is proven, at this level; attest it on the chosen chain."""
        case = await self.get_state(Case)
        party, eid = case.party, str(data.get("chain_eid", ""))
        self._begin()
        yield
        try:
            body = PartyVerify.model_validate(_verification(data))
            ends = end_of(str(data.get("expires_at", ""))[:20]) if eid else None
            await self._api("POST", f"/identity/parties/{party.id}/verify", json=body.model_dump(mode="json"))
        except (ApiProblem, ValidationError, ValueError) as problem:
            self._blame(problem, "expires_at")
            return
        self._done()
        self.deciding = ""
        if not eid.isdigit():
            await self._notify(f"{party.name} is verified", f"KYC level {body.kyc_level}")
            await case._refresh()
            return
        async for events in self._attest(
            case, AttestationCreate(party_id=party.id, chain_eid=int(eid), expires_at=ends)
        ):
            yield events

    async def _attest(self, case: Case, body: AttestationCreate) -> Any:
        """The second half: the party is verified, whatever becomes of the attestation."""
        name, checklist = case.party.name, await self.get_state(Checklist)
        try:
            self._begin()
            answer = await checklist._attempt(body, name, self._form_key)
        except ApiProblem as problem:
            await self._notify(f"{name} is verified, but not attested", problem.detail, "bad")
            answer = {}
        self._done()
        if answer:
            yield await checklist._issued(answer, name)
            return
        await case._refresh()
        yield [] if answer == {} else Checklist.watch

    @rx.event
    async def reject(self, data: dict[str, Any]):
        """The identity is not proven, and why."""
        case = await self.get_state(Case)
        party = case.party
        self._begin()
        yield
        try:
            body = PartyReject.model_validate({"reason": str(data.get("reason", ""))})
            await self._api("POST", f"/identity/parties/{party.id}/reject", json=body.model_dump())
        except (ApiProblem, ValidationError) as problem:
            self._blame(problem, "reason")
            return
        self._done()
        self.rejecting, self.deciding = False, ""
        await self._notify(f"{party.name} is rejected", body.reason, "info")
        await case._refresh()
        yield Tracker.watch

    def _blame(self, problem: Exception, field: str) -> None:
        if isinstance(problem, ApiProblem):
            self._refused(problem)
            self._keep_at("kyc_level", "accredited", "reason", "expires_at")
        elif isinstance(problem, ValidationError):
            self.errors, self.saving = findings(problem), False
        else:
            self.errors, self.saving = {field: str(problem)}, False


def _verification(data: dict[str, Any]) -> dict[str, Any]:
    level = str(data.get("kyc_level", ""))
    return {
        "kyc_level": int(level) if level.isdigit() and level.isascii() else level,
        "accredited": bool(data.get("accredited")),
        "reason": str(data.get("reason", "")).strip() or None,
    }
