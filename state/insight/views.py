"""The insight as the overview shows it."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from backend.insight.schemas import (
    DAYS,
    AssetInsight,
    Insight,
    InsightEvent,
    Issuance,
    PriceBasis,
    Upcoming,
    UpcomingKind,
)
from state.core.charts import ahead, compact, day, exact, months, scale, ticks
from state.core.dates import stamp
from state.core.units import grouped, plotted
from state.insight import words

SERIES = 5
"""Assets with a color of their own in a chart; the others are added up."""
OTHERS = "Other assets"
ROW = 30
"""Days of the calendar in a row."""
PAGES = {
    UpcomingKind.ATTESTATION: "attestations?show=active&id={id}",
    UpcomingKind.LOCKUP: "assets/{id}?tab=compliance",
    UpcomingKind.DISTRIBUTION: "distributions/{id}",
    UpcomingKind.APPROVAL: "approvals?id={id}",
}


@dataclass
class FigureView:
    """A number at the top: what it is, how it changed, its last 52 weeks, and the list behind it."""

    label: str = ""
    value: str = ""
    unit: str = ""
    exact: str = ""
    change: str = ""
    foot: str = ""
    href: str = ""
    weeks: list[float] = field(default_factory=list)


@dataclass
class AssetRow:
    """An asset of the table; amounts in base units, empty where it is not known."""

    id: str
    name: str
    symbol: str
    decimals: int
    supply: str
    price: str
    basis: str
    value: str
    holders: int
    holders_note: str
    """Why an asset with a supply has no holders; empty otherwise."""
    trades: int
    change: str


@dataclass
class UpcomingView:
    """An entry of the calendar."""

    id: str
    kind: str
    title: str
    at: str
    words: str
    href: str


@dataclass
class MonthView:
    """Days of the calendar in a row; `label` counts them from today."""

    label: str
    days: list[dict[str, str]]


@dataclass
class ChartView:
    """A chart of assets on top of each other; `points` are the weeks."""

    label: str = ""
    points: list[dict[str, Any]] = field(default_factory=list)
    series: list[dict[str, str]] = field(default_factory=list)
    ticks: list[dict[str, Any]] = field(default_factory=list)
    labels: list[dict[str, Any]] = field(default_factory=list)
    top: float = 1.0


def value_figure(issuance: Issuance, place: str) -> FigureView:
    """Return the issued value."""
    value, decimals = issuance.value, issuance.currency.decimals if issuance.currency else 0
    unit = issuance.currency.symbol if issuance.currency else ""
    now, before = int(value.now or 0), int(value.before or 0)
    return FigureView(
        label="Issued value",
        value=compact(now, decimals),
        unit=unit,
        exact=exact(now, decimals, unit),
        change=words.growth(now, before, decimals),
        foot=words.pricing(issuance.assets) or "nothing issued yet",
        href=place,
        weeks=[plotted(week or 0, decimals) for week in value.weeks],
    )


def holders_figure(issuance: Issuance, place: str) -> FigureView:
    """Return the number of holders."""
    holders = issuance.holders
    return FigureView(
        label="Holders",
        value=f"{holders.now:,}",
        change=words.change(holders.now, holders.before),
        foot=words.holding(issuance.assets),
        href=place,
        weeks=[float(week) for week in holders.weeks],
    )


def trades_figure(issuance: Issuance, place: str) -> FigureView:
    """Return the trades of the last 30 days, and their volume."""
    trades, currency = issuance.trades, issuance.currency
    volume = exact(issuance.volume.now or 0, currency.decimals, currency.symbol) if currency else ""
    return FigureView(
        label="Trades in 30 days",
        value=f"{trades.now:,}",
        change=words.change(trades.now, trades.before, period="on the 30 days before"),
        foot=(f"volume {volume}" if trades.now else "no trade in this time") + "; bars: 52 weeks",
        href=place,
        weeks=[float(week) for week in trades.weeks],
    )


def attestations_figure(insight: Insight, place: str) -> FigureView | None:
    """Return the valid attestations; None if the user may not read them."""
    if insight.attestations is None:
        return None
    active = insight.attestations.active
    soon = sum(one.kind is UpcomingKind.ATTESTATION and one.in_days < 30 for one in insight.upcoming)
    return FigureView(
        label="Valid attestations",
        value=f"{active.now:,}",
        change=words.change(active.now, active.before),
        foot=f"{words.plural(soon, 'attestation')} {'expires' if soon == 1 else 'expire'} within 30 days"
        if soon
        else "none expires within 30 days",
        href=place,
        weeks=[float(week) for week in active.weeks],
    )


def asset_row(asset: AssetInsight, decimals: int) -> AssetRow:
    """Convert an asset."""
    is_counted = asset.basis in (PriceBasis.LAST_PRICE, PriceBasis.NOMINAL)
    now, before = int(asset.value.now or 0), int(asset.value.before or 0)
    return AssetRow(
        id=str(asset.id),
        name=asset.name,
        symbol=asset.symbol,
        decimals=asset.decimals,
        supply=asset.supply,
        price=asset.price or "",
        basis=words.BASES[asset.basis],
        value=(asset.value.now or "0") if is_counted else "",
        holders=asset.holders.now,
        holders_note=words.unheld(asset),
        trades=asset.trades,
        change=words.growth(now, before, decimals) if is_counted else "",
    )


def upcoming_view(entry: Upcoming, place: str) -> UpcomingView:
    """Convert an entry of the calendar. `place` is the path of the organization's pages, `/o/{id}/`."""
    left = "today" if entry.in_days == 0 else f"in {words.plural(entry.in_days, 'day')}"
    return UpcomingView(
        id=f"{entry.kind}-{entry.subject_id}",
        kind=entry.kind,
        title=entry.title,
        at=stamp(entry.at),
        words=left,
        href=place + PAGES[entry.kind].format(id=entry.subject_id),
    )


def calendar(entries: list[Upcoming], today: date) -> list[MonthView]:
    """Return the next days in rows of 30, each day with what ends on it: its kind, and in words."""
    rows = [range(first, first + ROW) for first in range(0, DAYS, ROW)]
    return [MonthView(f"Day {row[0]}–{row[-1]}", [_cell(entries, today, n) for n in row]) for row in rows]


def _cell(entries: list[Upcoming], today: date, n: int) -> dict[str, str]:
    ends, at = [entry for entry in entries if entry.in_days == n], ahead(n, today)
    kind = ends[0].kind.value if len({entry.kind for entry in ends}) == 1 else "several" if ends else ""
    return {"kind": kind, "title": f"{at}: {'; '.join(entry.title for entry in ends)}" if ends else at}


def value_chart(insight: Insight, issuance: Issuance) -> ChartView:
    """Return the value of each asset in the last 52 weeks."""
    currency = issuance.currency
    decimals, unit = (currency.decimals, currency.symbol) if currency else (0, "")
    parts = {asset.symbol: [int(week or 0) for week in asset.value.weeks] for asset in issuance.assets}
    totals = [int(week or 0) for week in issuance.value.weeks]
    now = exact(totals[-1] if totals else 0, decimals, unit)
    return _chart(
        insight, issuance, _named(parts, totals), totals, decimals, unit, f"Issued value in 52 weeks, now {now}"
    )


def holders_chart(insight: Insight, issuance: Issuance) -> ChartView:
    """Return the holders of each asset in the last 52 weeks. An address that holds several assets is in each."""
    parts = {asset.symbol: asset.holders.weeks for asset in issuance.assets}
    totals = [sum(column) for column in zip(*parts.values(), strict=True)] or [0] * len(insight.days)
    label = f"Holders by asset in 52 weeks, now {totals[-1]:,}"
    return _chart(insight, issuance, _named(parts, totals), totals, 0, "", label)


def _named(parts: dict[str, list[int]], totals: list[int]) -> dict[str, list[int]]:
    """Return the parts that get a color of their own, largest first, and the others together."""
    used = {name: weeks for name, weeks in parts.items() if any(weeks)}
    first = dict(sorted(used.items(), key=lambda part: -max(part[1]))[:SERIES])
    if len(first) < len(used):
        shown = [sum(column) for column in zip(*first.values(), strict=True)]
        first[OTHERS] = [max(total - part, 0) for total, part in zip(totals, shown, strict=True)]
    return first


def _chart(
    insight: Insight,
    issuance: Issuance,
    parts: dict[str, list[int]],
    totals: list[int],
    decimals: int,
    unit: str,
    label: str,
) -> ChartView:
    days = insight.days
    numbers = scale(max(totals, default=0))
    points = [
        {
            "label": day(end),
            "values": [plotted(weeks[n], decimals) for weeks in parts.values()],
            "texts": [grouped(weeks[n], decimals) for weeks in parts.values()],
            "total": exact(totals[n], decimals, unit),
            "events": _events(issuance.events, days[n - 1] if n else None, end),
        }
        for n, end in enumerate(days)
    ]
    names = [name for name in parts if name != OTHERS]
    colors = {name: f"var(--s{n + 1})" for n, name in enumerate(names)} | {OTHERS: "var(--s6)"}
    return ChartView(
        label=label,
        points=points,
        series=[{"name": name, "color": colors[name]} for name in parts],
        ticks=ticks(numbers, decimals),
        labels=months(days),
        top=plotted(numbers[-1], decimals),
    )


def _events(events: list[InsightEvent], after: date | None, until: date) -> list[dict[str, str]]:
    """Return what happened within the week that ends on a day."""
    if after is None:
        return []
    return [{"kind": one.kind.value, "title": one.title} for one in reversed(events) if after < one.day <= until]
