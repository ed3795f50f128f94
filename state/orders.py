"""A market's orders: the table, placing and cancelling."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.markets.schemas import OrderSide, OrderStatus
from state.api import Form
from state.book import LIVE, BookState
from state.given import id_of, texts
from state.market import MarketState
from state.paging import Pages
from state.requests import Follows, Request, Tracker
from state.units import cost, grouped, to_base
from state.verdicts import Terms, Verdict, verdicts_of


@dataclass
class OrderRow:
    """A row of the table; price and amounts in base units, `done` in percent."""

    id: str
    side: str
    status: str
    price: str
    amount: str
    filled: str
    done: int
    maker: str
    maker_name: str
    tx_hash: str
    tx_url: str
    created_at: str
    is_live: bool


class OrdersState(Pages, rx.State):
    """The orders of the market in view, by keyset pages."""

    rows: list[OrderRow] = []
    status: str = ""
    side: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        market = await self.get_state(MarketState)
        if not market.path:
            self.rows = []
            return None
        wanted = {"status": self.status, "side": self.side, "cursor": cursor}
        page = await self._api("GET", f"{market.path}/orders", params=wanted)
        self.rows = [_row(order, market) for order in page["orders"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the first page, and the book."""
        await self._restart()
        return BookState.load

    @rx.event(supersedes=True)
    async def filter_status(self, status: str):
        """Show one status, or all."""
        self.status = str(status) if str(status) in set(OrderStatus) else ""
        await self._restart()

    @rx.event(supersedes=True)
    async def filter_side(self, side: str):
        """Show one side, or both."""
        self.side = str(side) if str(side) in set(OrderSide) else ""
        await self._restart()


def _row(order: dict[str, Any], market: MarketState) -> OrderRow:
    amount, filled = int(order["amount"]), int(order["filled"])
    return OrderRow(
        id=order["id"],
        side=order["side"],
        status=order["status"],
        price=order["price"],
        amount=order["amount"],
        filled=order["filled"],
        done=filled * 100 // amount if amount else 0,
        maker=order["maker_address"],
        maker_name=order["maker_name"] or "",
        tx_hash=order["tx_hash"],
        tx_url=market._transaction_url(market.market.chain_eid, order["tx_hash"]),
        created_at=order["created_at"],
        is_live=order["status"] in LIVE,
    )


def _option(wallet: dict[str, Any]) -> dict[str, str]:
    address = wallet["address"]
    return {"value": wallet["id"], "label": f"{wallet['label']}, {address[:6]}…{address[-4:]}"}


class OrderForm(Follows, Form, rx.State):
    """Placing an order by a server wallet, and cancelling one; each followed to its transactions."""

    is_open: bool = False
    side: str = "buy"
    wallets: list[dict[str, str]] = []
    total: str = ""
    cancelling: str = ""
    refusals: list[Verdict] = []
    _price: str = ""
    _amount: str = ""

    @rx.event
    def load(self):
        """Begin a visit of the page: nothing open, nothing followed."""
        self._done()
        self.is_open, self.cancelling, self.refusals, self.request = False, "", [], Request()

    @rx.event
    async def show(self, is_open: bool):
        """Open or close the dialog."""
        self._done()
        self.refusals = []
        self.is_open, self.total, self._price, self._amount = bool(is_open), "", "", ""
        if not is_open:
            return
        try:
            page = await self._api("GET", "/orgs/{org}/wallets", params={"limit": 100})
        except ApiProblem as problem:
            self._refused(problem)
            return
        self.wallets = [_option(wallet) for wallet in page["wallets"] if wallet["kind"] == "server"]

    @rx.event
    def pick_side(self, side: str):
        """Buy or sell."""
        self.side = "sell" if side == "sell" else "buy"

    @rx.event
    async def write(self, name: str, text: str):
        """Reckon the total while price and amount are written."""
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
    async def submit(self, data: dict[str, Any]):
        """Place the order."""
        state = await self.get_state(MarketState)
        self._begin()
        self.refusals = []
        yield
        body = self._read(texts(data), state)
        if self.errors:
            self.saving = False
            return
        try:
            answer = await self._api("POST", f"{state.path}/orders", json=body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("price", "amount", "wallet_id")
            self.refusals = verdicts_of(problem.rules, self._terms(state))
            if self.refusals:
                self.form_problem = ""
            return
        self._done()
        self.is_open = False
        yield [self._follow(answer["requestId"]), Tracker.watch]

    def _terms(self, state: MarketState) -> Terms:
        market = state.market
        return Terms(str(self.org_id), market.asset_id, market.symbol, market.decimals)

    def _read(self, data: dict[str, str], state: MarketState) -> dict[str, Any]:
        """The request; what cannot be read goes to `errors`."""
        body, errors = {"side": self.side, "wallet_id": id_of(data.get("wallet_id"))}, {}
        for name, decimals in (("price", state.market.quote_decimals), ("amount", state.market.decimals)):
            try:
                body[name] = to_base(data.get(name, ""), decimals)
            except ValueError as error:
                errors[name] = str(error)
        if not body["wallet_id"]:
            errors["wallet_id"] = "Choose a wallet"
        self.errors = errors
        return body

    @rx.event
    async def cancel(self, order_id: str):
        """Cancel an order."""
        path = (await self.get_state(MarketState)).path
        self.cancelling = id_of(order_id)
        yield
        try:
            answer = await self._api("DELETE", f"{path}/orders/{self.cancelling}")
        except ApiProblem as problem:
            self.cancelling = ""
            await self._notify("The order was not cancelled", problem.detail or problem.title, "bad")
            return
        yield [self._follow(answer["requestId"]), Tracker.watch]

    @rx.event
    async def retry(self):
        """Try the failed request again."""
        return [Tracker.retry(self.request.id), type(self).follow]

    @rx.event
    def put_away(self):
        """Stop showing a request that has ended."""
        self.request = Request()

    async def _followed(self) -> None:
        self.cancelling = ""
        orders, book = await self.get_state(OrdersState), await self.get_state(BookState)
        await orders._page()
        await book._read()
