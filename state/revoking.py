"""The dialog that revokes an attestation, and what that breaks."""

from dataclasses import dataclass
from typing import Any

import reflex as rx
from pydantic import ValidationError

from backend.attestations.schemas import AttestationRevoke
from backend.client import ApiProblem
from state.api import Form
from state.case import Case
from state.fields import findings
from state.requests import Tracker

TRIAL = "Looking at what it breaks."
"""The reason of the dry run; it is written nowhere."""


@dataclass
class Holding:
    """A token the wallet holds, in base units."""

    id: str
    symbol: str
    decimals: int
    amount: str


class Revoke(Form, rx.State):
    """Of the attestation in the drawer."""

    is_open: bool = False
    planning: bool = False
    is_possible: bool = False
    holdings: list[Holding] = []
    _attestation_id: str = ""

    @rx.event
    async def begin(self):
        """Open the dialog and ask what it would break."""
        case = await self.get_state(Case)
        self._done()
        self._attestation_id, self.is_open, self.planning = case.attestation.id, True, True
        self.holdings, self.is_possible = [], False
        yield
        try:
            plan = await self._api("POST", self._path(), json={"reason": TRIAL}, params={"dry_run": "true"})
            self.holdings = [
                Holding(h["asset_id"], h["symbol"], h["decimals"], h["amount"]) for h in plan["impact"]["holdings"]
            ]
            self.is_possible = True
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at()
        self.planning = False

    @rx.event
    def show(self, is_open: bool):
        """Open or close it."""
        self.is_open = bool(is_open) and self.is_open

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Revoke it, and follow that to the chain."""
        self._begin()
        yield
        try:
            body = AttestationRevoke.model_validate({"reason": str(data.get("reason", ""))})
            answer = await self._api("POST", self._path(), json=body.model_dump(), key=self._form_key)
        except ValidationError as error:
            self.errors, self.saving = findings(error), False
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason")
            return
        self._done()
        self.is_open = False
        case = await self.get_state(Case)
        await self._accepted(f"Revoking the attestation of {case.attestation.name}", answer["requestId"])
        yield [Tracker.watch, case._follow(answer["requestId"])]

    def _path(self) -> str:
        return f"/orgs/{{org}}/attestations/{self._attestation_id}/revoke"
