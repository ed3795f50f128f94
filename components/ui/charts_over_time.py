"""Charts over time: a small picture beside a number, and areas on top of each other with their table."""

from typing import Any

import reflex as rx

from components.ui.value import Local


class Spark(Local):
    """A line, or bars, from 0."""

    library = "$/public/react/charts.jsx"
    tag = "Spark"

    values: rx.Var[list[float]]
    bars: rx.Var[bool]


class StackChart(Local):
    """Areas on top of each other, with events, what is under the pointer, and the table."""

    library = "$/public/react/charts.jsx"
    tag = "StackChart"

    points: rx.Var[list[dict[str, Any]]]
    series: rx.Var[list[dict[str, str]]]
    ticks: rx.Var[list[dict[str, Any]]]
    labels: rx.Var[list[dict[str, Any]]]
    top: rx.Var[float]
    label: rx.Var[str]
    caption: rx.Var[str]
    first: rx.Var[str]
    total: rx.Var[str]


class PriceChart(Local):
    """Prices of days with trades, the volume below, what is under the pointer, and the table."""

    library = "$/public/react/price_chart.jsx"
    tag = "PriceChart"

    points: rx.Var[list[dict[str, Any]]]
    ticks: rx.Var[list[dict[str, Any]]]
    labels: rx.Var[list[dict[str, Any]]]
    heads: rx.Var[list[str]]
    label: rx.Var[str]
    caption: rx.Var[str]


def price_chart(chart: Any, caption: Any) -> rx.Component:
    """Draw a `PricesView`. `caption` names its table."""
    return PriceChart.create(
        points=chart.points,
        ticks=chart.ticks,
        labels=chart.labels,
        heads=chart.heads,
        label=chart.label,
        caption=caption,
    )


def spark(values: rx.Var[list[float]], *, bars: rx.Var[bool] | bool = False) -> rx.Component:
    """Draw a small picture of numbers, which are in words beside it."""
    return Spark.create(values=values, bars=bars)


def stack_chart(chart: Any, caption: Any, *, first: str, total: str) -> rx.Component:
    """Draw a `ChartView`. `caption` names its table, `first` the table's first column, `total` the sum."""
    return StackChart.create(
        points=chart.points,
        series=chart.series,
        ticks=chart.ticks,
        labels=chart.labels,
        top=chart.top,
        label=chart.label,
        caption=caption,
        first=first,
        total=total,
    )
