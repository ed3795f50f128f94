"""What the investor's wallet is about to sign: the sheet that shows it, and what happens afterwards."""

from dataclasses import dataclass, field

import reflex as rx

from backend.client import ApiProblem, body
from backend.investor_trading.schemas import InvestorClaimCreate, PreparedTransactions
from state.core.api import Api
from state.core.arguments import id_of
from state.core.events import Next


@dataclass
class ChainView:
    """A chain, as the browser's wallet needs it."""

    chain_id: str = ""
    name: str = ""
    currency: str = ""
    rpc_url: str = ""


@dataclass
class TransactionView:
    """A transaction to sign, and what it does."""

    title: str = ""
    lines: list[str] = field(default_factory=list)
    contract: str = ""
    data: str = ""
    value: str = ""


class Signing(Api, rx.State):
    """The sheet "What you will sign". Nothing is stored: closing it changes nothing."""

    is_open: bool = False
    busy: str = ""
    """The order or the distribution that is being prepared."""
    account: str = ""
    chain: ChainView = ChainView()
    transactions: list[TransactionView] = []
    _result: str = ""

    @rx.event
    def load(self) -> None:
        """Close the sheet when a page opens."""
        self.is_open, self.busy, self.transactions = False, "", []

    @rx.event
    def show(self, is_open: bool) -> None:
        """Close the sheet."""
        self.is_open = self.is_open and bool(is_open)

    @rx.event
    async def cancel(self, order_id: str) -> None:
        """Prepare the cancellation of an order."""
        if self.is_open:
            return
        self.busy = id_of(order_id)
        if not self.busy:
            return
        try:
            prepared = await self._api.prepare_investor_cancellation(self._in_path("membership_id"), self.busy)
        except ApiProblem as problem:
            await self._refuse("The order cannot be cancelled now", problem)
            return
        self._open(prepared, "The order is cancelled")

    @rx.event
    async def claim(self, distribution_id: str, address: str) -> None:
        """Prepare the claim of an amount that waits."""
        if self.is_open:
            return
        self.busy = id_of(distribution_id)
        if not self.busy:
            return
        try:
            recipient = body(InvestorClaimCreate, {"address": str(address)[:42]})
            prepared = await self._api.prepare_investor_claim(self._in_path("membership_id"), self.busy, recipient)
        except ApiProblem as problem:
            await self._refuse("This amount cannot be claimed now", problem)
            return
        self._open(prepared, "The amount is paid to your wallet")

    async def _refuse(self, title: str, problem: ApiProblem) -> None:
        self.busy = ""
        await self._notify(title, problem.detail or problem.title, "bad")

    def _open(self, prepared: PreparedTransactions, result: str) -> None:
        """Show what the wallet will sign; `result` is announced once it is sent."""
        chain = prepared.chain
        self.chain = ChainView(chain.chain_id, chain.name, chain.currency, chain.rpc_url or "")
        self.transactions = [
            TransactionView(one.title, one.lines, one.to, one.data, one.value) for one in prepared.transactions
        ]
        self.account, self._result, self.busy, self.is_open = prepared.from_address, result, "", True

    @rx.event
    async def done(self) -> None:
        """Close the sheet: everything is included in the chain."""
        if self.is_open:
            self.is_open = False
            await self._notify(self._result, "It appears here in a few seconds.")

    @rx.event
    def look(self) -> Next:
        """Read the page again, for what the chain has in the meantime."""
        from state.investor.home import InvestorHome  # both open this sheet
        from state.investor.trade import InvestorTrade

        is_trading = self.router.url.path.endswith("/trade")
        return InvestorTrade.refresh if is_trading else InvestorHome.load
