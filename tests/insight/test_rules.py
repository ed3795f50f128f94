"""Weeks, running totals and values."""

from datetime import date, timedelta

from backend.insight import rules
from backend.insight.rules import Calendar, Quote
from backend.insight.schemas import PriceBasis

TODAY = date(2026, 11, 20)
CALENDAR = Calendar(TODAY)


def at(days_ago: int) -> int:
    """Return the place of a day: the first counted day that is not before it."""
    day = TODAY - timedelta(days=days_ago)
    return next(place for place, end in enumerate(CALENDAR.days) if day <= end)


def test_calendar_counts_a_day_a_week_and_the_two_months_that_are_compared() -> None:
    weeks = CALENDAR.weeks
    assert (len(weeks), weeks[0], weeks[-1]) == (53, date(2025, 11, 21), TODAY)
    assert CALENDAR.days == sorted(set(CALENDAR.days))
    assert set(CALENDAR.days) - set(weeks) == {date(2025, 11, 14), date(2026, 10, 21), date(2026, 9, 21)}
    assert CALENDAR.starts[-1] == date(2026, 11, 21)


def test_level_has_everything_up_to_each_day() -> None:
    found = rules.counts({at(400): 2, at(31): 3, at(8): -1, at(0): 4}, CALENDAR)
    assert (found.now, found.before) == (8, 5)
    assert (found.weeks[0], found.weeks[-3:]) == (2, [5, 4, 8])


def test_flow_has_what_happened_within_each_period() -> None:
    found = rules.flow({at(400): 9, at(366): 1, at(45): 2, at(30): 3, at(10): 4, at(1): 5}, CALENDAR)
    assert (found.now, found.before) == (9, 5)
    assert (found.weeks[0], found.weeks[-2:], sum(found.weeks)) == (1, [4, 5], 15)


def test_price_is_carried_until_the_next_trade() -> None:
    carried = rules.carried({at(20): 102, at(3): 104}, CALENDAR)
    assert carried[0] is None
    assert (carried[at(20)], carried[at(10)], carried[-1]) == (102, 102, 104)


def test_value_is_unknown_without_a_price_and_zero_without_a_supply() -> None:
    assert rules.values([0, 5 * 10**18, 5 * 10**18], [None, None, 102_400_000], 18) == [0, None, 512_000_000]
    assert rules.values([3], [1], 6) == [0]


def test_total_adds_up_what_is_known() -> None:
    assert rules.total([[1, None, None], [2, 5, None]], 3) == [3, 5, None]
    assert rules.total([], 2) == [None, None]


def test_currency_is_that_of_most_trades() -> None:
    quotes = [Quote("EURX", 6, 3), Quote("tUSD", 6, 2), Quote("tUSD", 6, 2), Quote("USDC", 6, 0)]
    assert rules.currency_of(quotes) == ("tUSD", 6)
    assert rules.currency_of([Quote("USDC", 6, 0), Quote("EURX", 18, 0), Quote("EURX", 18, 0)]) == ("EURX", 18)
    assert rules.currency_of([]) is None


def test_nominal_value_has_the_decimals_of_the_currency() -> None:
    assert [rules.nominal_price(text, 6) for text in ("100", "0.000001", "99.50")] == [10**8, 1, 99_500_000]
    assert rules.nominal_price("1.129999", 2) == 112
    assert rules.nominal_price(None, 6) is None


def test_basis_says_where_a_price_comes_from() -> None:
    assert rules.basis_of(True, True, False) is PriceBasis.LAST_PRICE
    assert rules.basis_of(False, True, False) is PriceBasis.NOMINAL
    assert rules.basis_of(False, True, True) is PriceBasis.OTHER_CURRENCY
    assert rules.basis_of(False, False, False) is PriceBasis.NONE
