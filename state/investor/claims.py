"""The amounts of distributions that wait for the investor, and those that the organization claims for them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import reflex as rx

from backend.client import ApiProblem, body
from backend.investor_trading.schemas import InvestorClaimCreate
from backend.investors.schemas import ClaimPayment, ClaimState, InvestorClaim
from state.core.api import PASSING, Api
from state.core.arguments import id_of
from state.core.events import Events

PAID, PAUSE = "paid", 0.5


@dataclass
class ClaimView:
    """An amount of a distribution. `is_kept`: the organization keeps the wallet. `progress` of its claim: empty,
    `sending`, `failed` or `paid`."""

    id: str
    name: str
    symbol: str
    decimals: int
    amount: str
    distribution_id: str
    address: str
    is_kept: bool
    progress: str


class WaitingClaims(Api, rx.State):
    """The amounts that wait, and those that were paid during this visit."""

    rows: list[ClaimView] = []
    has_foreign: bool = False
    """Whether one waits at a wallet that the organization does not keep."""
    _followed: list[str] = []
    """Those whose payment this visit has shown; they stay, as paid."""

    @rx.event
    def clear(self) -> None:
        """Forget what an earlier visit of the page showed."""
        self._followed = []

    def _show(self, claims: Sequence[InvestorClaim]) -> None:
        """Take over the investor's claims."""
        sending = [_id(one) for one in claims if one.payment is ClaimPayment.SENDING]
        self._followed = list(dict.fromkeys([*self._followed, *sending]))
        shown = [one for one in claims if one.state is ClaimState.WAITING or self._is_paid(one)]
        rows = [_view(one) for one in shown]
        if rows != self.rows:
            self.rows = rows
        self.has_foreign = any(not row.is_kept and row.progress != PAID for row in rows)

    def _is_paid(self, one: InvestorClaim) -> bool:
        return one.state is ClaimState.CLAIMED and _id(one) in self._followed

    @rx.event
    async def claim(self, distribution_id: str, address: str) -> Events:
        """Have the organization claim an amount, and follow it."""
        distribution, recipient = id_of(distribution_id), str(address)[:42]
        wanted = f"{distribution}:{recipient}"
        if not any(row.id == wanted and row.progress in ("", "failed") for row in self.rows):
            return
        self.rows = [replace(row, progress="sending") if row.id == wanted else row for row in self.rows]
        yield
        try:
            sent = body(InvestorClaimCreate, {"address": recipient})
            await self._api.claim_kept_amount(self._in_path("membership_id"), distribution, sent)
        except ApiProblem as problem:
            self.rows = [replace(row, progress="") if row.id == wanted else row for row in self.rows]
            await self._notify("This amount cannot be claimed now", problem.detail or problem.title, "bad")
            return
        self._followed = [*self._followed, wanted]
        yield WaitingClaims.watch

    @rx.event(background=True, supersedes=True)
    async def watch(self) -> Events:
        """Read the claims until none is being sent, or the user leaves the page; then read what else has changed."""
        from state.investor.home import InvestorHome  # it shows these claims

        async with self:
            path, is_sending = self.router.url.path, self._is_sending()
        if not is_sending:
            return
        while is_sending:
            await asyncio.sleep(PAUSE)
            async with self:
                if self.router.url.path != path or not await self._read():
                    return
                is_sending = self._is_sending()
        yield InvestorHome.load

    async def _read(self) -> bool:
        """Read the claims again; return whether a later attempt may succeed if this one did not."""
        try:
            self._show((await self._api.get_investor_claims(self._in_path("membership_id"))).claims)
        except ApiProblem as problem:
            return problem.status in PASSING
        return True

    def _is_sending(self) -> bool:
        return any(row.progress == "sending" for row in self.rows)


def _id(one: InvestorClaim) -> str:
    return f"{one.distribution_id}:{one.address}"


def _view(one: InvestorClaim) -> ClaimView:
    return ClaimView(
        id=_id(one),
        name=one.name,
        symbol=one.symbol,
        decimals=one.decimals,
        amount=one.amount,
        distribution_id=str(one.distribution_id),
        address=one.address,
        is_kept=one.is_kept,
        progress=PAID if one.state is ClaimState.CLAIMED else str(one.payment or ""),
    )
