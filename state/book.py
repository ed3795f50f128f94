"""A market's book: what its live orders add up to."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Loads
from state.market import MarketState
from state.units import grouped, plotted

LIVE = ("open", "partial")


class BookState(Loads, rx.State):
    """What the live orders add up to."""

    depth: list[dict[str, float]] = []
    ticks: list[float] = []
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
        scale = _scale([*sides["buy"], *sides["sell"]])
        self.ticks = [plotted(price, quote) for price in scale]
        bids, asks = _cumulated(buys, "bid", quote, decimals), _cumulated(sells, "ask", quote, decimals)
        if scale:
            bids.append({**(bids[-1] if bids else {}), "price": self.ticks[0]})
            asks.append({**(asks[-1] if asks else {}), "price": self.ticks[-1]})
        self.depth = bids[::-1] + asks
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


def _scale(prices: list[int]) -> list[int]:
    """Round prices from below the lowest to above the highest, so that the outermost steps have a width too."""
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
