"""A market's prices and volume by day: the chart."""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.markets.schemas import DailyPrice, DailyPrices
from state.core.address import Param
from state.markets import price_charts
from state.markets.detail import MarketDetail, MarketState
from state.markets.periods import OfPeriod, in_url
from state.markets.price_charts import Bar, PricesView, Terms

DAYS = {"30": 30, "90": 90, "365": 365}
"""Periods that can be chosen."""


class PricesState(OfPeriod, rx.State):
    """The prices of the current market in a period that ends today."""

    chart: PricesView = PricesView()
    is_traded: bool = False
    """Whether there is any trade in the period."""
    _market: str = ""
    _periods: ClassVar[tuple[str, ...]] = tuple(DAYS)
    _in_url: ClassVar[dict[str, Param]] = in_url(*_periods)

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
        since = price_charts.begin(prices.until, DAYS[self.period])
        shown = [price for price in prices.days if price.day >= since]
        self.is_traded = bool(shown)
        self.chart = view(shown, since, prices, market) if shown else PricesView()


def view(shown: Sequence[DailyPrice], since: date, prices: DailyPrices, market: MarketDetail) -> PricesView:
    """Return the chart of some days with trades, at least one, in a period."""
    bars = [Bar(day.day, day.high, day.low, day.close, day.amount, day.trades, day.open) for day in shown]
    terms = Terms(market.symbol, market.decimals, market.quote, market.quote_decimals)
    before = next((day.close for day in reversed(prices.days) if day.day < since), None)
    return price_charts.view(bars, since, prices.until, terms, before=before)
