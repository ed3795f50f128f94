"""Charts of prices and volume by day or by month, and their tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from state.core.charts import day, marks, span
from state.core.units import plotted, rounded

LABELS = 6
"""Names of days below the chart, at most."""


@dataclass
class PricesView:
    """The chart. `points` are the periods with trades: where each part is drawn (0 to 1), and its row of the table."""

    points: list[dict[str, Any]] = field(default_factory=list)
    ticks: list[dict[str, Any]] = field(default_factory=list)
    labels: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    label: str = ""


@dataclass(frozen=True)
class Bar:
    """The trades of a period that begins on a day. Prices and `amount` are in base units; `opened` is None where the
    price of the first trade is not known."""

    first: date
    high: str
    low: str
    close: str
    amount: str
    trades: int
    opened: str | None = None


@dataclass(frozen=True)
class Terms:
    """The units of a chart: of the asset, and of the currency of its prices."""

    symbol: str
    decimals: int
    quote: str
    quote_decimals: int


def begin(until: date, days: int) -> date:
    """Return the first day of a chart of a number of days: all of them, also of what is younger, so that the days below
    the chart are those of the chosen period."""
    return until - timedelta(days=days - 1)


def view(
    shown: Sequence[Bar], since: date, until: date, terms: Terms, *, by_month: bool = False, before: str | None = None
) -> PricesView:
    """Return the chart of some periods with trades, at least one, from a day to another one. `before` is the close of
    the period with trades before them; without it, the first one is compared with its own open."""
    scale = span(min(int(bar.low) for bar in shown), max(int(bar.high) for bar in shown))
    most = max(int(bar.amount) for bar in shown)
    quote, days = terms.quote_decimals, (until - since).days + 1
    has_open = all(bar.opened is not None for bar in shown)

    def up(price: str) -> float:
        return plotted(int(price) - scale[0], 0) / plotted(scale[-1] - scale[0], 0)

    def point(bar: Bar, earlier: str | None) -> dict[str, Any]:
        opened = [bar.opened or ""] if has_open else []
        middle = min(15, max((until - bar.first).days, 1) / 2) if by_month else 0.5
        return {
            "at": ((bar.first - since).days + middle) / days,
            **(
                {"open": up(bar.opened or ""), "move": _move(earlier or bar.opened or "", bar.close)}
                if has_open
                else {}
            ),
            "high": up(bar.high),
            "low": up(bar.low),
            "close": up(bar.close),
            "volume": plotted(bar.amount, 0) / plotted(most, 0) if most else 0.0,
            "cells": [
                f"{bar.first:%B %Y}" if by_month else day(bar.first),
                *(rounded(one, quote) for one in (*opened, bar.high, bar.low, bar.close)),
                rounded(bar.amount, terms.decimals),
                f"{bar.trades:,}",
            ],
        }

    closes = (before, *(bar.close for bar in shown[:-1]))
    return PricesView(
        points=[point(bar, earlier) for bar, earlier in zip(shown, closes, strict=True)],
        ticks=marks(scale, quote),
        labels=_labels(since, days),
        heads=[
            "Month" if by_month else "Day", *(["Open"] if has_open else []), "High", "Low", "Close",
            f"Volume, {terms.symbol}", "Trades",
        ],
        label=f"Price in {terms.quote} from {day(since)} to {day(until)}, last {rounded(shown[-1].close, quote)}; "
        "volume below",
    )  # fmt: skip


def _move(earlier: str, close: str) -> str:
    """Return where a close is, compared with an earlier price: up, down or flat."""
    change = int(close) - int(earlier)
    return "up" if change > 0 else "down" if change < 0 else "flat"


def _labels(since: date, days: int) -> list[dict[str, Any]]:
    """Return days at equal distances: of long periods the first of a month, with the year in January; of several years
    with each of them."""
    everyone = [since + timedelta(days=n) for n in range(days)]
    if days > 100:
        firsts = [one for one in everyone if one.day == 1]
        chosen = firsts[:: max(1, -(-len(firsts) // (2 * LABELS)))]
        return [
            {
                "at": ((one - since).days + 0.5) / days,
                "label": f"{one:%b %Y}" if _names_year(one, days) else f"{one:%b}",
            }
            for one in chosen
        ]
    apart = -(-days // LABELS)
    return [
        {"at": ((one - since).days + 0.5) / days, "label": f"{one.day} {one:%b}"}
        for one in everyone[apart // 2 :: apart]
    ]


def _names_year(one: date, days: int) -> bool:
    return one.month == 1 or days > 800
