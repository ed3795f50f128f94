"""A market's orders: the book's depth, the table, placing and cancelling."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.markets.schemas import OrderSide, OrderStatus
from state.api import Form, Loads
from state.market import MarketState
from state.paging import Pages
from state.requests import Follows, Request, Tracker
from state.units import cost, grouped, plotted, to_base
from state.verdicts import Verdict, verdicts_of

LIVE = ("open", "partial")


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
        self.status = status if status in set(OrderStatus) else ""
        await self._restart()

    @rx.event(supersedes=True)
    async def filter_side(self, side: str):
        """Show one side, or both."""
        self.side = side if side in set(OrderSide) else ""
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


class BookState(Loads, rx.State):
    """What the live orders add up to."""

    depth: list[dict[str, float]] = []
    said: str = "No open orders"
    best_bid: str = ""
    best_ask: str = ""
    spread: str = ""
    bids: str = "0"
    asks: str = "0"
    live: int = 0

    @rx.event
    async def load(self):
        """Read the live orders, 200 at the most, and add them up by price."""
        await self._read()

    async def _read(self) -> None:
        market = await self.get_state(MarketState)
        if not market.path:
            return
        try:
            pages = [
                await self._api("GET", f"{market.path}/orders", params={"status": status, "limit": 100})
                for status in LIVE
            ]
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._add_up([order for page in pages for order in page["orders"]], market)
        self._loaded()

    def _add_up(self, orders: list[dict[str, Any]], state: MarketState) -> None:
        market, sides = state.market, {"buy": _levels(orders, "buy"), "sell": _levels(orders, "sell")}
        buys, sells = sorted(sides["buy"].items(), reverse=True), sorted(sides["sell"].items())
        quote, decimals = market.quote_decimals, market.decimals
        self.live = len(orders)
        self.bids, self.asks = str(sum(sides["buy"].values())), str(sum(sides["sell"].values()))
        self.best_bid, self.best_ask = str(buys[0][0]) if buys else "", str(sells[0][0]) if sells else ""
        self.spread = str(sells[0][0] - buys[0][0]) if buys and sells else ""
        rising = _cumulated(buys, "bid", quote, decimals)[::-1] + _cumulated(sells, "ask", quote, decimals)
        self.depth = rising
        bid, ask = grouped(self.bids, decimals), grouped(self.asks, decimals)
        self.said = f"Market depth: {bid} {market.symbol} bid, {ask} {market.symbol} asked"


def _levels(orders: list[dict[str, Any]], side: str) -> dict[int, int]:
    """What is left to fill at each price."""
    levels: dict[int, int] = {}
    for order in orders:
        if order["side"] == side:
            price = int(order["price"])
            levels[price] = levels.get(price, 0) + int(order["amount"]) - int(order["filled"])
    return levels


def _cumulated(levels: list[tuple[int, int]], name: str, quote: int, decimals: int) -> list[dict[str, float]]:
    rows, total = [], 0
    for price, left in levels:
        total += left
        rows.append({"price": plotted(price, quote), name: plotted(total, decimals)})
    return rows


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
        self.side = side if side in set(OrderSide) else "buy"

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
        body = self._read(data, state)
        if self.errors:
            self.saving = False
            return
        try:
            answer = await self._api("POST", f"{state.path}/orders", json=body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("price", "amount", "wallet_id")
            self.refusals = verdicts_of(problem.rules, str(self.org_id), state.market.asset_id)
            if self.refusals:
                self.form_problem = ""
            return
        self._done()
        self.is_open = False
        yield [self._follow(answer["requestId"]), Tracker.watch]

    def _read(self, data: dict[str, Any], state: MarketState) -> dict[str, Any]:
        """The request; what cannot be read goes to `errors`."""
        body, errors = {"side": self.side, "wallet_id": str(data.get("wallet_id", ""))[:40]}, {}
        for name, decimals in (("price", state.market.quote_decimals), ("amount", state.market.decimals)):
            try:
                body[name] = to_base(str(data.get(name, ""))[:200], decimals)
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
        self.cancelling = str(order_id)[:40]
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
