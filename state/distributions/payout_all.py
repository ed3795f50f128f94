"""The payment of all listed recipients who can claim now, after one confirmation."""

import reflex as rx

from backend.client import ApiProblem
from state.core.dialogs import Dialog
from state.core.events import Events, call
from state.core.units import rounded
from state.distributions.detail import DistributionState
from state.distributions.recipients import PayeeView, RecipientsState
from state.requests.tracker import Tracker

NAMED = 5
"""Recipients named in the confirmation; the page's list has all."""


class PayoutAll(Dialog, rx.State):
    """The confirmation before all listed recipients are paid; each payment is a request of its own."""

    count: int = 0
    total: str = ""
    names: str = ""
    _wanted: list[PayeeView] = []
    """Those whom the dialog shows: the list may change while it is open."""

    @rx.event
    async def show(self, is_open: bool) -> None:
        """Open the dialog about those who can claim now, or close it."""
        self._done()
        one = (await self.get_state(DistributionState)).distribution
        wanted = (await self.get_state(RecipientsState))._payable() if is_open else []
        self.is_open, self._wanted, self.count = bool(wanted), wanted, len(wanted)
        amount = sum(int(payee.amount) for payee in wanted)
        self.total = f"{rounded(amount, one.decimals)} {one.symbol}"
        more = f" and {len(wanted) - NAMED} more" if len(wanted) > NAMED else ""
        self.names = ", ".join(payee.name for payee in wanted[:NAMED]) + more

    @rx.event
    async def confirm(self) -> Events:
        """Send a payment for each; follow the last one, which runs after the others."""
        if not self._wanted:
            return
        self._begin()
        yield
        page, recipients = await self.get_state(DistributionState), await self.get_state(RecipientsState)
        last, refused = "", []
        for payee in self._wanted:
            try:
                last = (await self._api.pay_recipient(*page._path(), payee.address)).request_id
            except ApiProblem as problem:
                refused.append(f"{payee.name}: {problem.detail or problem.title}")
        paid = len(self._wanted) - len(refused)
        self._wanted = []
        self._close()
        if refused:
            await self._notify(f"{_recipients(len(refused))} cannot be paid now", refused[0], "bad")
        if not last:
            return
        recipients.paying = "all"
        await self._accepted(f"Paying {_recipients(paid)}", last)
        yield [call(DistributionState.watch, last), Tracker.watch]


def _recipients(count: int) -> str:
    return "1 recipient" if count == 1 else f"{count} recipients"
