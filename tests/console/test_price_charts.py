"""The chart of a market's prices: which days it has, and their names below it."""

from datetime import date, timedelta

import pytest

from backend.markets.schemas import DailyPrice, DailyPrices
from state.markets.detail import MarketDetail
from state.markets.prices import LABELS, begin, view

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


@pytest.mark.parametrize(
    ("created", "trades", "days", "first"),
    [
        (400, [300, 2], 365, 364),
        (240, [238, 2], 365, 240),
        (200, [238, 2], 365, 238),
        (240, [238, 2], 90, 89),
        (20, [3], 30, 20),
        (0, [0], 365, 6),
    ],
)
def test_chart_of_a_young_market_begins_with_it(created: int, trades: list[int], days: int, first: int) -> None:
    opened = f"{TODAY - timedelta(days=created)}T09:00:00.000000Z"
    assert begin(prices(*trades), days, opened) == TODAY - timedelta(days=first)


@pytest.mark.parametrize("first", [6, 7, 11, 29, 50, 89, 99, 100, 150, 240, 364])
def test_chart_of_any_length_names_some_of_its_days(first: int) -> None:
    found = prices(1)
    labels = view(found.days, TODAY - timedelta(days=first), found, MarketDetail()).labels
    assert 2 <= len(labels) <= 2 * LABELS
    places = [one["at"] for one in labels]
    assert places == sorted(places)
    assert places[0] > 0
    assert places[-1] < 1
