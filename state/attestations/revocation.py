"""The dialog that revokes an attestation, with the impact."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.attestations.schemas import AffectedHolding, AttestationRevoke
from backend.client import ApiProblem, body
from state.attestations.case import Case
from state.compliance.effect_words import claims_words, orders_words
from state.core.dialogs import DialogAbout
from state.core.events import Events
from state.core.units import brief
from state.requests.tracker import Tracker

TRIAL = "Preview of the impact."
"""The reason in the dry run; it is not stored."""


@dataclass
class HoldingView:
    """A token that the wallet holds, in base units, and whether it can send and receive it after the revocation."""

    id: str
    symbol: str
    decimals: int
    amount: str
    can_send: bool
    can_receive: bool


class Revoke(DialogAbout, rx.State):
    """The form that revokes the attestation in the drawer."""

    planning: bool = False
    is_possible: bool = False
    holds_any: bool = False
    stuck: list[HoldingView] = []
    """What the wallet can neither send nor receive after the revocation."""
    sendable: list[HoldingView] = []
    """What it can send but no longer receive."""
    kept: list[HoldingView] = []
    """What another attestation still lets it send and receive."""
    stops: str = ""
    """What else no longer works, as sentences: open orders and payments of distributions."""
    waiting: list[str] = []
    """The titles of requests that wait for approval and name the wallet."""
    _attestation_id: str = ""

    @rx.event
    async def begin(self) -> Events:
        """Open the dialog and read the impact."""
        case = await self.get_state(Case)
        self._done()
        self._attestation_id, self.is_open, self.planning = case.attestation.id, True, True
        self._sort([])
        self.stops, self.waiting = "", []
        self.is_possible = False
        yield
        try:
            plan = await self._api.revoke_attestation(
                self._org_id(), self._attestation_id, AttestationRevoke(reason=TRIAL), dry_run=True
            )
            impact = plan.impact
            self._sort([holding_view(holding) for holding in impact.holdings])
            counts = ((impact.orders_total, orders_words), (impact.claims_total, claims_words))
            self.stops = " ".join(f"{words(count)}." for count, words in counts if count)
            self.waiting = [brief(one.title) for one in impact.requests]
            self.is_possible = True
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at()
        self.planning = False

    def _sort(self, holdings: list[HoldingView]) -> None:
        """Keep the holdings, by what the revocation does to each."""
        self.holds_any = bool(holdings)
        self.stuck = [one for one in holdings if not one.can_send]
        self.sendable = [one for one in holdings if one.can_send and not one.can_receive]
        self.kept = [one for one in holdings if one.can_send and one.can_receive]

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Revoke the attestation and follow the transaction."""
        self._begin()
        yield
        try:
            revocation = body(AttestationRevoke, {"reason": str(data.get("reason", ""))})
            accepted = await self._api.revoke_attestation(
                self._org_id(), self._attestation_id, revocation, idempotency_key=self._form_key
            )
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason")
            return
        self._close()
        case = await self.get_state(Case)
        await self._accepted(f"Revoking the attestation of {case.attestation.name}", accepted.request_id)
        yield [Tracker.watch, case._follow(accepted.request_id)]


def holding_view(holding: AffectedHolding) -> HoldingView:
    """Convert the API's holding."""
    return HoldingView(
        str(holding.asset_id), holding.symbol, holding.decimals, holding.amount, holding.can_send, holding.can_receive
    )
