"""The form that places an order, and cancellations."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.markets.schemas import OrderCreate
from backend.wallets.schemas import WalletKind
from state.compliance.verdicts import Terms, Verdict, refusals_of
from state.core.arguments import id_of, texts
from state.core.dialogs import Dialog
from state.core.events import Events
from state.core.units import cost, grouped, to_base
from state.markets.detail import MarketDetail, MarketState
from state.orders.book import BookState
from state.orders.list import OrdersState
from state.orders.trades import TradesState
from state.requests.tracker import Follows, Tracker
from state.requests.views import RequestView
from state.wallets.views import wallet_option


class OrderForm(Follows, Dialog, rx.State):
    """Placing an order with a server wallet, and cancelling one; each is followed to its transactions."""

    side: str = "buy"
    wallets: list[dict[str, str]] = []
    total: str = ""
    cancelling: str = ""
    refusals: list[Verdict] = []
    _price: str = ""
    _amount: str = ""

    @rx.event
    def load(self) -> None:
        """Reset the page when it opens: no dialog, no followed request."""
        self._done()
        self.is_open, self.cancelling, self.refusals, self.request = False, "", [], RequestView()

    @rx.event
    async def show(self, is_open: bool) -> None:
        """Open or close the dialog."""
        self._done()
        self.refusals = []
        self.is_open, self.total, self._price, self._amount = bool(is_open), "", "", ""
        if not is_open:
            return
        try:
            page = await self._api.list_wallets(self._org_id(), limit=100)
        except ApiProblem as problem:
            self._refused(problem)
            return
        self.wallets = [wallet_option(wallet) for wallet in page.wallets if wallet.kind is WalletKind.SERVER]

    @rx.event
    def pick_side(self, side: str) -> None:
        """Select buy or sell."""
        self.side = "sell" if side == "sell" else "buy"

    @rx.event
    async def write(self, name: str, text: str) -> None:
        """Calculate the total while price and amount are entered."""
        if name == "price":
            self._price = str(text)[:200]
        elif name == "amount":
            self._amount = str(text)[:200]
        market = (await self.get_state(MarketState)).market
        try:
            price, amount = to_base(self._price, market.quote_decimals), to_base(self._amount, market.decimals)
        except ValueError:
            self.total = ""
            return
        self.total = f"{grouped(cost(price, amount, market.decimals), market.quote_decimals)} {market.quote}"

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Place the order."""
        market = (await self.get_state(MarketState)).market
        self._begin()
        self.refusals = []
        yield
        fields = self._fields(texts(data), market)
        if self.errors:
            self.saving = False
            return
        try:
            order = body(OrderCreate, fields)
            answer = await self._api.place_order(
                self._org_id(), market.asset_id, market.id, order, idempotency_key=self._form_key
            )
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("price", "amount", "wallet_id")
            terms = Terms(self._org_id(), market.asset_id, market.symbol, market.decimals)
            self.refusals = refusals_of(problem, terms)
            if self.refusals:
                self.form_problem = ""
            return
        self._close()
        yield [self._follow(answer.request_id), Tracker.watch]

    def _fields(self, data: dict[str, str], market: MarketDetail) -> dict[str, str]:
        """Return the order's fields; errors of invalid inputs go to `errors`."""
        fields, errors = {"side": self.side, "wallet_id": id_of(data.get("wallet_id"))}, {}
        for name, decimals in (("price", market.quote_decimals), ("amount", market.decimals)):
            try:
                fields[name] = to_base(data.get(name, ""), decimals)
            except ValueError as error:
                errors[name] = str(error)
        if not fields["wallet_id"]:
            errors["wallet_id"] = "Choose a wallet"
        self.errors = errors
        return fields

    @rx.event
    async def cancel(self, order_id: str) -> Events:
        """Cancel an order."""
        market = (await self.get_state(MarketState)).market
        self.cancelling = id_of(order_id)
        yield
        try:
            answer = await self._api.cancel_order(self._org_id(), market.asset_id, market.id, self.cancelling)
        except ApiProblem as problem:
            self.cancelling = ""
            await self._notify("The order was not cancelled", problem.detail or problem.title, "bad")
            return
        yield [self._follow(answer.request_id), Tracker.watch]

    @rx.event
    def dismiss(self) -> None:
        """Hide a request that has ended."""
        self.request = RequestView()

    async def _followed(self) -> None:
        self.cancelling = ""
        orders, book = await self.get_state(OrdersState), await self.get_state(BookState)
        market, trades = await self.get_state(MarketState), await self.get_state(TradesState)
        await orders._page()
        await book._read()
        await market._read()
        await trades._page()
