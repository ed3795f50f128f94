"""The overview's figures, chart, assets and calendar."""

from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.insight.schemas import Insight, Issuance
from state.core.address import Addressed, Param, choice
from state.core.api import Loads
from state.insight import views
from state.insight.views import AssetRow, ChartView, FigureView, MonthView, UpcomingView

SHOWN = 4
"""Entries of the calendar that are listed at first."""


class InsightState(Loads, Addressed, rx.State):
    """The insight, read with the overview. Parts that the user may not read are empty, and `has_…` is false."""

    figures: list[FigureView] = []
    has_issuance: bool = False
    is_issued: bool = False
    """Whether any asset has or had a supply."""
    currency: str = ""
    currency_decimals: int = 0
    chart: str = "value"
    charts: dict[str, ChartView] = {}
    assets: list[AssetRow] = []
    months: list[MonthView] = []
    upcoming: list[UpcomingView] = []
    upcoming_total: int = 0
    is_open: bool = False
    """Whether every entry of the calendar is listed."""
    _in_url: ClassVar[dict[str, Param]] = {"chart": choice("chart", ("value", "holders"), "value")}

    @rx.event
    def show_chart(self, name: str) -> None:
        """Show the chart of values or of holders."""
        self.chart = "holders" if name == "holders" else "value"

    @rx.event
    def open_calendar(self) -> None:
        """List every entry of the calendar."""
        self.is_open = True

    @rx.event
    async def load(self) -> None:
        """Read the insight again."""
        await self._read()

    async def _arrive(self) -> None:
        """Take over the view of the URL, and read."""
        self._read_url()
        await self._read()

    async def _read(self) -> None:
        try:
            insight = await self._api.get_insight(self._org_id())
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._loaded()
        self._show(insight, f"/o/{self._org_id()}/")

    @rx.var
    def drawn(self) -> ChartView:
        """The chart that is shown."""
        return self.charts.get(self.chart) or ChartView()

    @rx.var
    def listed(self) -> list[UpcomingView]:
        """The entries of the calendar that are listed."""
        return self.upcoming if self.is_open else self.upcoming[:SHOWN]

    def _show(self, insight: Insight, place: str) -> None:
        self.months = views.calendar(insight.upcoming, insight.days[-1])
        self.upcoming = [views.upcoming_view(entry, place) for entry in insight.upcoming]
        self.upcoming_total, self.is_open = insight.upcoming_total, False
        self.has_issuance, self.is_issued = insight.issuance is not None, False
        self.figures, self.assets, self.charts = [], [], {}
        if insight.issuance is not None:
            self._show_issuance(insight, insight.issuance, place)
        attested = views.attestations_figure(insight, place + "attestations?show=active")
        self.figures = [*self.figures, *([attested] if attested else [])]

    def _show_issuance(self, insight: Insight, issuance: Issuance, place: str) -> None:
        currency = issuance.currency
        self.currency, self.currency_decimals = (currency.symbol, currency.decimals) if currency else ("", 0)
        self.is_issued = any(any(asset.holders.weeks) or asset.supply != "0" for asset in issuance.assets)
        self.assets = [views.asset_row(asset, self.currency_decimals) for asset in issuance.assets]
        # One asset is its own list; several are below.
        only = f"{place}assets/{issuance.assets[0].id}" if len(issuance.assets) == 1 else ""
        lists = {name: f"{only}?tab={name}" if only else "#by-asset" for name in ("overview", "holders", "markets")}
        self.figures = [
            views.value_figure(issuance, lists["overview"]),
            views.holders_figure(issuance, lists["holders"]),
            views.trades_figure(issuance, lists["markets"]),
        ]
        charts = {"value": views.value_chart, "holders": views.holders_chart}
        self.charts = {name: draw(insight, issuance) for name, draw in charts.items()}
