"""Weeks, running totals and values. Pure functions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeVar

from backend.insight.schemas import CHANGE_DAYS, Amounts, Counts, PriceBasis, PriceStep

T = TypeVar("T")
WEEKS = 52
MOST_PERIODS = 366
"""Days or months of an asset's prices."""


@dataclass(frozen=True)
class Calendar:
    """The days at whose end something is counted: one a week, and 30 and 60 days ago."""

    today: date

    @cached_property
    def weeks(self) -> list[date]:
        """Return the last days of the weeks, oldest first."""
        return [self.today - timedelta(days=7 * n) for n in range(WEEKS, -1, -1)]

    @property
    def month_ago(self) -> date:
        """Return the day with which the numbers of today are compared."""
        return self.today - timedelta(days=CHANGE_DAYS)

    @property
    def months_ago(self) -> date:
        """Return the day before the month that a flow of the last month is compared with."""
        return self.today - timedelta(days=2 * CHANGE_DAYS)

    @property
    def year_ago(self) -> date:
        """Return the day before the first week."""
        return self.today - timedelta(days=7 * (WEEKS + 1))

    @cached_property
    def days(self) -> list[date]:
        """Return every counted day, oldest first. A place is an index in this list: it has what happened after the day
        before it, up to its end; the first place has everything earlier."""
        return sorted({self.year_ago, *self.weeks, self.month_ago, self.months_ago})

    @property
    def starts(self) -> list[date]:
        """Return the thresholds of the places, for `width_bucket`: a day belongs to the place of the number of
        thresholds up to it."""
        return [day + timedelta(days=1) for day in self.days]

    @cached_property
    def _places(self) -> dict[date, int]:
        return {day: place for place, day in enumerate(self.days)}

    def place(self, day: date) -> int:
        """Return the place of a counted day."""
        return self._places[day]


def levels(changes: Mapping[int, int], calendar: Calendar) -> list[int]:
    """Return the running total at the end of each place."""
    return list(accumulate(changes.get(place, 0) for place in range(len(calendar.days))))


def counts(changes: Mapping[int, int], calendar: Calendar) -> Counts:
    """Return a number that changes, such as holders."""
    found = levels(changes, calendar)
    weeks = [found[calendar.place(day)] for day in calendar.weeks]
    return Counts(now=found[-1], before=found[calendar.place(calendar.month_ago)], weeks=weeks)


def flow(happened: Mapping[int, int], calendar: Calendar) -> Counts:
    """Return how often something happened, such as trades."""
    now, before, weeks = _flows(happened, calendar)
    return Counts(now=now, before=before, weeks=weeks)


def amount_flow(happened: Mapping[int, int], calendar: Calendar) -> Amounts:
    """Return how much of something happened, such as volume."""
    now, before, weeks = _flows(happened, calendar)
    return Amounts(now=str(now), before=str(before), weeks=[str(week) for week in weeks])


def _flows(happened: Mapping[int, int], calendar: Calendar) -> tuple[int, int, list[int]]:
    found, place = levels(happened, calendar), calendar.place
    ends = [found[place(day)] for day in (calendar.year_ago, *calendar.weeks)]
    month, months = found[place(calendar.month_ago)], found[place(calendar.months_ago)]
    return found[-1] - month, month - months, [after - before for before, after in pairwise(ends)]


def amounts(found: Sequence[int | None], calendar: Calendar) -> Amounts:
    """Return an amount at the end of each place, such as a value."""

    def at(day: date) -> str | None:
        amount = found[calendar.place(day)]
        return None if amount is None else str(amount)

    return Amounts(now=at(calendar.today), before=at(calendar.month_ago), weeks=[at(day) for day in calendar.weeks])


def carried(known: Mapping[int, T], calendar: Calendar, start: T | None = None) -> list[T | None]:
    """Return at the end of each place what is known there, or was known last."""
    found: list[T | None] = []
    for place in range(len(calendar.days)):
        start = known.get(place, start)
        found.append(start)
    return found


def values(supplies: Sequence[int], prices: Sequence[int | None], decimals: int) -> list[int | None]:
    """Return the value at the end of each place; None without a price, 0 without a supply."""
    unit: int = 10**decimals
    return [
        0 if not supply else None if price is None else supply * price // unit
        for supply, price in zip(supplies, prices, strict=True)
    ]


def total(parts: Iterable[Sequence[int | None]], length: int) -> list[int | None]:
    """Return the sums of the known parts; None where no part is known."""
    columns: list[list[int]] = [[] for _ in range(length)]
    for part in parts:
        for column, amount in zip(columns, part, strict=True):
            if amount is not None:
                column.append(amount)
    return [sum(column) if column else None for column in columns]


@dataclass(frozen=True)
class Quote:
    """The quote currency of a market, and the number of its trades."""

    symbol: str
    decimals: int
    trades: int


def currency_of(quotes: Sequence[Quote]) -> tuple[str, int] | None:
    """Return symbol and decimals of the currency with the most trades, then with the most markets; None without a
    market."""
    trades, markets = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for quote in quotes:
        trades[quote.symbol, quote.decimals] += quote.trades
        markets[quote.symbol, quote.decimals] += 1
    return min(markets, key=lambda one: (-trades[one], -markets[one], one), default=None)


def nominal_price(nominal: str | None, decimals: int) -> int | None:
    """Return a nominal value in base units of a currency; digits beyond its decimals are cut off."""
    return None if nominal is None else int(Decimal(nominal).scaleb(decimals))


def basis_of(is_traded: bool, is_nominal: bool, has_other_currency: bool) -> PriceBasis:
    """Return where an asset's price comes from."""
    if is_traded:
        return PriceBasis.LAST_PRICE
    if has_other_currency:
        return PriceBasis.OTHER_CURRENCY
    return PriceBasis.NOMINAL if is_nominal else PriceBasis.NONE


def span_of(
    step: PriceStep, since: date | None, until: date | None, first_trade: date | None, today: date
) -> tuple[date, date]:
    """Return the first and the last day of an asset's prices: by default the last year; by month, everything that a
    response can have. Months begin on their first day."""
    last = until or today
    if step is PriceStep.DAY:
        return since or _earlier(last, MOST_PERIODS - 1), last
    first = (since or min(first_trade or last, last)).replace(day=1)
    if since is None and periods_between(step, first, last) > MOST_PERIODS:
        months = last.year * 12 + last.month - MOST_PERIODS
        first = date(months // 12, months % 12 + 1, 1)
    return first, last


def periods_between(step: PriceStep, first: date, last: date) -> int:
    """Return the number of days or months from a day to another one."""
    if step is PriceStep.DAY:
        return (last - first).days + 1
    return (last.year - first.year) * 12 + last.month - first.month + 1


def _earlier(day: date, days: int) -> date:
    return day - min(timedelta(days=days), day - date.min)
