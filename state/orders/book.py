"""A market's order book: the totals of the open orders that can be filled."""

import asyncio

import reflex as rx

from backend.client import ApiProblem
from backend.markets.schemas import Order, OrderSide, OrderStatus
from state.core.api import Loads
from state.core.units import plotted, rounded
from state.markets.detail import MarketDetail, MarketState

LIVE = (OrderStatus.OPEN, OrderStatus.PARTIAL)


class BookState(Loads, rx.State):
    """The totals of the open orders."""

    depth: list[dict[str, float]] = []
    ticks: list[float] = []
    summary: str = "No open orders"
    best_bid: str = ""
    best_ask: str = ""
    spread: str = ""
    bids: str = "0"
    asks: str = "0"
    live: int = 0
    blocked: int = 0
    """Open orders that cannot be filled because of their makers. They do not count for the depth and best prices."""
    _best_makers: dict[str, list[str]] = {}
    """The addresses whose orders have the best price, by the side of these orders."""

    @rx.event
    async def load(self) -> None:
        """Read the open orders, 200 at most, and sum them up by price."""
        await self._read()

    async def _read(self) -> None:
        market = (await self.get_state(MarketState)).market
        if not market.id:
            return
        api, path = self._api, (self._org_id(), market.asset_id, market.id)
        try:
            pages = await asyncio.gather(*(api.list_orders(*path, status=status, limit=100) for status in LIVE))
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._add_up([order for page in pages for order in page.orders], market)
        self._loaded()

    def makers_of_best(self, side: str) -> list[str]:
        """Return the addresses whose orders an order of a side would meet first, in lower case."""
        return self._best_makers.get("sell" if side == "buy" else "buy", [])

    def _add_up(self, orders: list[Order], market: MarketDetail) -> None:
        able = [order for order in orders if order.blocked_reason is None]
        bought, sold = _levels(able, OrderSide.BUY), _levels(able, OrderSide.SELL)
        buys, sells = sorted(bought.items(), reverse=True), sorted(sold.items())
        quote, decimals = market.quote_decimals, market.decimals
        self.live, self.blocked = len(orders), len(orders) - len(able)
        self.bids, self.asks = str(sum(bought.values())), str(sum(sold.values()))
        self.best_bid, self.best_ask = str(buys[0][0]) if buys else "", str(sells[0][0]) if sells else ""
        best = {"buy": self.best_bid, "sell": self.best_ask}
        self._best_makers = {
            side: [one.maker_address.lower() for one in able if (one.side, one.price) == (side, price)]
            for side, price in best.items()
        }
        self.spread = str(sells[0][0] - buys[0][0]) if buys and sells else ""
        scale = _scale([*bought, *sold])
        self.ticks = [plotted(price, quote) for price in scale]
        bids, asks = _cumulated(buys, "bid", quote, decimals), _cumulated(sells, "ask", quote, decimals)
        if scale:
            bids.append({**(bids[-1] if bids else {}), "price": self.ticks[0]})
            asks.append({**(asks[-1] if asks else {}), "price": self.ticks[-1]})
        self.depth = bids[::-1] + asks
        bid, ask = rounded(self.bids, decimals), rounded(self.asks, decimals)
        self.summary = f"Market depth: {bid} {market.symbol} bid, {ask} {market.symbol} asked"


def _levels(orders: list[Order], side: OrderSide) -> dict[int, int]:
    """Return the unfilled amount at each price."""
    levels: dict[int, int] = {}
    for order in orders:
        if order.side is side:
            price = int(order.price)
            levels[price] = levels.get(price, 0) + int(order.amount) - int(order.filled)
    return levels


def _scale(prices: list[int]) -> list[int]:
    """Return round prices from below the lowest to above the highest, so that the outermost steps have a width too."""
    if not prices:
        return []
    low, high = min(prices), max(prices)
    rough = max((high - low) // 4, low // 100, 1)
    power = 10 ** (len(str(rough)) - 1)
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough)
    return list(range((low - 1) // step * step, high + step + 1, step))


def _cumulated(levels: list[tuple[int, int]], name: str, quote: int, decimals: int) -> list[dict[str, float]]:
    rows, total = [], 0
    for price, left in levels:
        total += left
        rows.append({"price": plotted(price, quote), name: plotted(total, decimals)})
    return rows
