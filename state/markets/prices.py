"""A market's prices and volume by day: the chart."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.markets.schemas import DailyPrice, DailyPrices
from state.core.address import Addressed, Param, choice
from state.core.api import Loads
from state.core.charts import day, marks, span
from state.core.units import plotted, rounded
from state.markets.detail import MarketDetail, MarketState

DAYS = {"30": 30, "90": 90, "365": 365}
"""Periods that can be chosen."""
LABELS = 6
"""Names of days below the chart, at most."""
LEAST = 7
"""Days of a chart, at least."""


@dataclass
class PricesView:
    """The chart. `points` are the days with trades: where each part is drawn (0 to 1), and its row of the table."""

    points: list[dict[str, Any]] = field(default_factory=list)
    ticks: list[dict[str, Any]] = field(default_factory=list)
    labels: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    label: str = ""


class PricesState(Loads, Addressed, rx.State):
    """The prices of the current market in a period that ends today."""

    period: str = "365"
    chart: PricesView = PricesView()
    is_traded: bool = False
    """Whether there is any trade in the period."""
    _market: str = ""
    _in_url: ClassVar[dict[str, Param]] = {"period": choice("period", tuple(DAYS), "365")}

    @rx.event
    async def load(self) -> None:
        """Read the daily prices of the period."""
        self._read_url()
        await self._read()

    @rx.event(supersedes=True)
    async def choose(self, period: str) -> None:
        """Show another period."""
        self.period = period if period in DAYS else "365"
        await self._read()

    async def _read(self) -> None:
        market = (await self.get_state(MarketState)).market
        if market.id != self._market:
            self._market, self.chart, self.is_traded, self.loading = market.id, PricesView(), False, True
        if not market.id:
            return
        try:
            prices = await self._api.get_daily_prices(self._org_id(), market.asset_id, market.id)
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._loaded()
        since = begin(prices, DAYS[self.period], market.created_at)
        shown = [price for price in prices.days if price.day >= since]
        self.is_traded = bool(shown)
        self.chart = view(shown, since, prices, market) if shown else PricesView()


def begin(prices: DailyPrices, days: int, created_at: str) -> date:
    """Return the first day of a chart of a number of days: of a younger market the day on which it was created, or that
    of its first trade."""
    created = datetime.fromisoformat(created_at).date()
    born = min([created, *(price.day for price in prices.days)])
    return min(max(prices.until - timedelta(days=days - 1), born), prices.until - timedelta(days=LEAST - 1))


def view(shown: Sequence[DailyPrice], since: date, prices: DailyPrices, market: MarketDetail) -> PricesView:
    """Return the chart of some days with trades, at least one, in a period."""
    quote, decimals = market.quote_decimals, market.decimals
    scale = span(min(int(price.low) for price in shown), max(int(price.high) for price in shown))
    most = max(int(price.amount) for price in shown)
    days = (prices.until - since).days + 1

    def up(price: str) -> float:
        return plotted(int(price) - scale[0], 0) / plotted(scale[-1] - scale[0], 0)

    points = [
        {
            "at": ((price.day - since).days + 0.5) / days,
            "open": up(price.open),
            "high": up(price.high),
            "low": up(price.low),
            "close": up(price.close),
            "volume": plotted(price.amount, 0) / plotted(most, 0) if most else 0.0,
            "cells": [
                day(price.day),
                *(rounded(one, quote) for one in (price.open, price.high, price.low, price.close)),
                rounded(price.amount, decimals),
                f"{price.trades:,}",
            ],
        }
        for price in shown
    ]
    last = rounded(shown[-1].close, quote)
    return PricesView(
        points=points,
        ticks=marks(scale, quote),
        labels=_labels(since, days),
        heads=["Day", "Open", "High", "Low", "Close", f"Volume, {market.symbol}", "Trades"],
        label=f"Price in {market.quote} from {day(since)} to {day(prices.until)}, last {last}; volume below",
    )


def _labels(since: date, days: int) -> list[dict[str, Any]]:
    """Return days at equal distances: of long periods the first of a month, with the year in January."""
    everyone = [since + timedelta(days=n) for n in range(days)]
    if days > 100:
        firsts = [one for one in everyone if one.day == 1][:: max(1, days // 30 // LABELS)]
        return [
            {"at": ((one - since).days + 0.5) / days, "label": f"{one:%b %Y}" if one.month == 1 else f"{one:%b}"}
            for one in firsts
        ]
    apart = -(-days // LABELS)
    return [
        {"at": ((one - since).days + 0.5) / days, "label": f"{one.day} {one:%b}"}
        for one in everyone[apart // 2 :: apart]
    ]
