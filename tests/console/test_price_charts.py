"""Charts of prices: which days they have and their names below them, and the figures of an asset's prices."""

from datetime import date, timedelta

import pytest

from backend.markets.schemas import DailyPrice, DailyPrices
from state.assets.prices import change
from state.markets.detail import MarketDetail
from state.markets.price_charts import LABELS, Bar, Terms, begin
from state.markets.price_charts import view as view_of
from state.markets.prices import view

TODAY = date(2026, 11, 28)


def prices(*ages: int) -> DailyPrices:
    """Return the prices of a year, with a trade at each of some ages in days."""
    days = [
        DailyPrice(
            day=TODAY - timedelta(days=age), trades=1, open="100", high="110", low="90", close="105", amount="7",
            value="735",
        )
        for age in sorted(ages, reverse=True)
    ]  # fmt: skip
    return DailyPrices(since=TODAY - timedelta(days=365), until=TODAY, days=days)


@pytest.mark.parametrize(("days", "first"), [(30, "1 Nov"), (90, "7 Sep"), (365, "Dec")])
def test_chart_of_one_day_has_the_whole_chosen_period(days: int, first: str) -> None:
    found = prices(0)
    chart = view(found.days, begin(TODAY, days), found, MarketDetail())
    assert len(chart.points) == 1
    assert chart.points[0]["at"] > 0.98
    assert chart.labels[0]["label"] == first


@pytest.mark.parametrize("first", [6, 7, 11, 29, 50, 89, 99, 100, 150, 240, 364])
def test_chart_of_any_length_names_some_of_its_days(first: int) -> None:
    found = prices(1)
    labels = view(found.days, TODAY - timedelta(days=first), found, MarketDetail()).labels
    assert 2 <= len(labels) <= 2 * LABELS
    places = [one["at"] for one in labels]
    assert places == sorted(places)
    assert places[0] > 0
    assert places[-1] < 1


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [("100", "102", "+2.0%"), ("100", "98", "−2.0%"), ("100", "100", "0.0%"), (None, "100", ""), ("0", "100", "")],
)
def test_change_of_a_price_has_its_sign(before: str | None, now: str, words: str) -> None:
    assert change(before, now) == words


def test_day_is_compared_with_the_close_before_it() -> None:
    days = [
        DailyPrice(day=TODAY - timedelta(days=age), trades=1, open=price, high=price, low=price, close=price,
                   amount="7", value="7")
        for age, price in ((40, "102"), (9, "100"), (6, "103"), (4, "103"), (2, "101"))
    ]  # fmt: skip
    found = DailyPrices(since=TODAY - timedelta(days=365), until=TODAY, days=days)

    def moves(period: int) -> list[str]:
        since = begin(TODAY, period)
        shown = [day for day in days if day.day >= since]
        return [point["move"] for point in view(shown, since, found, MarketDetail()).points]

    assert moves(30) == ["down", "up", "flat", "down"]
    assert moves(365) == ["flat", "down", "up", "flat", "down"]


def test_months_of_several_years_have_their_names() -> None:
    months = [date(2022 + n // 12, n % 12 + 1, 1) for n in range(50)]
    bars = [Bar(first=month, high="9", low="7", close="8", amount="5", trades=2) for month in months]
    found = view_of(bars, months[0], date(2026, 2, 3), Terms("NREF", 0, "tUSD", 0), by_month=True)
    assert found.heads == ["Month", "High", "Low", "Close", "Volume, NREF", "Trades"]
    assert found.points[-1]["cells"] == ["February 2026", "9", "7", "8", "5", "2"]
    assert all(0 < point["at"] < 1 and "open" not in point for point in found.points)
    assert len(found.labels) <= 2 * LABELS
