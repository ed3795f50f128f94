"""An asset's prices and volume across its markets: the figures and the chart."""

from typing import Any, ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.insight.schemas import AssetPrice, AssetPrices, PriceStep
from state.assets.detail import AssetState
from state.core.address import Param
from state.core.charts import moved
from state.markets import price_charts
from state.markets.periods import OfPeriod, in_url
from state.markets.price_charts import Bar, PricesView, Terms

DAYS = {"90": 90, "365": 365}
"""Days of the periods that are shown by day; `all` is shown by month."""


class AssetPricesState(OfPeriod, rx.State):
    """The prices of the current asset in a period that ends today. `change` is that of 30 days, empty if there was no
    trade before."""

    chart: PricesView = PricesView()
    is_traded: bool = False
    """Whether there is any trade in the period."""
    markets: int = 0
    omitted_markets: int = 0
    currency: str = ""
    decimals: int = 6
    price: str = ""
    before: str = ""
    change: str = ""
    high: str = ""
    low: str = ""
    volume: str = "0"
    value: str = "0"
    trades: int = 0
    _asset: str = ""
    _periods: ClassVar[tuple[str, ...]] = (*DAYS, "all")
    _in_url: ClassVar[dict[str, Param]] = in_url(*_periods)

    async def _read(self) -> None:
        asset = self._in_path("asset_id")
        if asset != self._asset:
            self._asset, self.chart, self.is_traded, self.loading, self.problem = asset, PricesView(), False, True, ""
        step = PriceStep.MONTH if self.period == "all" else PriceStep.DAY
        try:
            found = await self._api.get_asset_prices(self._org_id(), asset, step=step)
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._loaded()
        detail = (await self.get_state(AssetState)).asset
        self._show(found, detail.symbol, detail.decimals)

    def _show(self, found: AssetPrices, symbol: str, decimals: int) -> None:
        currency = found.currency
        self.currency, self.decimals = (currency.symbol, currency.decimals) if currency else ("", 6)
        self.markets, self.omitted_markets = found.markets, found.omitted_markets
        self.price, self.before = found.price or "", found.before or ""
        self.change = change(found.before, found.price)
        since = found.since
        if found.step is PriceStep.DAY:
            since = price_charts.begin(found.until, DAYS[self.period])
        shown = [one for one in found.periods if one.first >= since]
        self.is_traded = bool(shown)
        for name, value in totals(shown).items():
            setattr(self, name, value)
        terms = Terms(symbol, decimals, self.currency, self.decimals)
        bars = [Bar(one.first, one.high, one.low, one.close, one.amount, one.trades) for one in shown]
        by_month = found.step is PriceStep.MONTH
        self.chart = price_charts.view(bars, since, found.until, terms, by_month=by_month) if bars else PricesView()


def change(before: str | None, now: str | None) -> str:
    """Return how a price changed: `+2.4%`, rounded to the nearest tenth; empty without both."""
    if not before or not now or not int(before):
        return ""
    return moved(int(before), int(now))


def totals(shown: list[AssetPrice]) -> dict[str, Any]:
    """Return the highest and the lowest price of some periods, their volume and their number of trades."""
    return {
        "high": max((one.high for one in shown), key=int, default=""),
        "low": min((one.low for one in shown), key=int, default=""),
        "volume": str(sum(int(one.amount) for one in shown)),
        "value": str(sum(int(one.value) for one in shown)),
        "trades": sum(one.trades for one in shown),
    }
