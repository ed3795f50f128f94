"""The words and numbers of the overview's figures, charts and calendar."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.assets.schemas import AssetStatus
from backend.insight.schemas import Amounts, AssetInsight, Counts, PriceBasis, Upcoming, UpcomingKind
from state.core import charts
from state.insight import views, words


@pytest.mark.parametrize(
    ("units", "decimals", "text"),
    [
        (0, 0, "0"), (9_999, 0, "9,999"), (10_000, 0, "10K"), (128_499, 0, "128.5K"), (25_637_312, 0, "25.64M"),
        (1_000_000_000, 0, "1B"), (2_345_000_000_000_000, 0, "2,345T"), (1_234_567, 6, "1.23"),
        (288_174_350_000_000, 6, "288.17M"), (259_750_000, 0, "259.75M"), (999_996, 0, "1M"),
        (9_999_999, 3, "10K"), (1, 6, "<0.01"),
    ],
)  # fmt: skip
def test_compact_amount_is_rounded_to_two_decimals(units: int, decimals: int, text: str) -> None:
    assert charts.compact(units, decimals) == text


@given(st.integers(0, 10**30))
def test_scale_begins_at_zero_and_reaches_the_top_in_few_round_steps(top: int) -> None:
    scale = charts.scale(top)
    assert scale[0] == 0
    assert scale[-1] >= max(top, 1)
    assert 2 <= len(scale) <= 6
    assert len({after - before for before, after in pairwise(scale)}) == 1


@given(st.integers(0, 10**30), st.integers(0, 10**30))
def test_span_contains_both_ends_in_few_round_steps(one: int, other: int) -> None:
    low, high = sorted((one, other))
    span = charts.span(low, high)
    assert 0 <= span[0] <= low <= high <= span[-1]
    assert span[0] < span[-1]
    assert 2 <= len(span) <= 7
    assert len({after - before for before, after in pairwise(span)}) == 1
    lines = charts.marks(span, 6)
    assert (lines[0]["at"], lines[-1]["at"]) == (0, 1)
    assert len({line["label"] for line in lines}) == len(lines)


def test_marks_have_as_many_decimals_as_their_steps() -> None:
    assert [line["label"] for line in charts.marks([99_500_000, 100_000_000, 100_500_000], 6)] == [
        "99.5", "100", "100.5",
    ]  # fmt: skip
    assert [line["label"] for line in charts.marks([1_000_000, 1_000_001], 6)] == ["1", "1.000001"]


def test_months_are_named_where_they_begin() -> None:
    days = [date(2026, 12, 17) + timedelta(days=7 * n) for n in range(6)]
    assert charts.months(days) == [{"at": 3 / 5, "label": "Jan 2027"}]


@pytest.mark.parametrize(
    ("now", "before", "text"),
    [
        (5, 5, "unchanged in 30 days"), (8, 5, "+3 in 30 days"), (2, 5, "−3 in 30 days"),
        (12_000, 0, "+12K in 30 days"),
    ],
)  # fmt: skip
def test_change_says_how_many_more_or_fewer(now: int, before: int, text: str) -> None:
    assert words.change(now, before) == text


@pytest.mark.parametrize(
    ("now", "before", "text"),
    [
        (1_042, 1_000, "+4.2% in 30 days"), (958, 1_000, "−4.2% in 30 days"), (7, 7, "unchanged in 30 days"),
        (5_000_000, 0, "+5 in 30 days"), (100_001, 100_000, "+less than 0.1% in 30 days"),
        (99_999, 100_000, "−less than 0.1% in 30 days"), (30_000, 1_000, "+2,900.0% in 30 days"),
        (101_178, 100_000, "+1.2% in 30 days"),
    ],
)  # fmt: skip
def test_growth_is_in_percent_where_there_was_an_amount(now: int, before: int, text: str) -> None:
    assert words.growth(now, before, 6) == text


def asset(basis: PriceBasis, supply: str = "1", name: str = "ABC") -> AssetInsight:
    nothing = Counts(now=0, before=0, weeks=[])
    return AssetInsight(
        id=uuid4(), name=name, symbol=name, decimals=18, status=AssetStatus.ACTIVE, supply=supply, price=None,
        basis=basis, priced_at=None, value=Amounts(now=None, before=None, weeks=[]), holders=nothing, trades=0,
    )  # fmt: skip


def test_pricing_says_which_assets_count_and_how() -> None:
    assets = [
        asset(PriceBasis.LAST_PRICE), asset(PriceBasis.NOMINAL), asset(PriceBasis.NOMINAL), asset(PriceBasis.NONE),
        asset(PriceBasis.NONE, supply="0"), asset(PriceBasis.OTHER_CURRENCY),
    ]  # fmt: skip
    assert words.pricing(assets) == ("at last prices, 2 assets at nominal value, 2 assets without a price not counted")
    assert words.pricing([]) == ""


def test_asset_without_holders_says_that_the_treasury_holds_it() -> None:
    held, unheld = asset(PriceBasis.NOMINAL), asset(PriceBasis.NOMINAL)
    held.holders = Counts(now=10, before=9, weeks=[])
    rows = [views.asset_row(one, 6) for one in (held, unheld, asset(PriceBasis.NOMINAL, supply="0"))]
    assert [(row.holders, row.holders_note) for row in rows] == [(10, ""), (0, "none besides the treasury"), (0, "")]
    assert words.holding([held, unheld]) == "of 1 asset, without the treasury"
    assert words.holding([unheld]) == "no investor holds an asset yet"


def test_small_assets_share_a_color_and_the_sum_stays() -> None:
    parts = {f"A{n}": [n, 10 * n] for n in range(8)}
    totals = [sum(column) for column in zip(*parts.values(), strict=True)]
    named = views._named(parts, totals)
    assert list(named) == ["A7", "A6", "A5", "A4", "A3", "Other assets"]
    assert [sum(column) for column in zip(*named.values(), strict=True)] == totals
    assert views._named({"A": [0, 0], "B": [1, 2]}, [1, 2]) == {"B": [1, 2]}


def test_calendar_marks_the_day_on_which_something_ends() -> None:
    today = date(2026, 11, 20)

    def ends(kind: UpcomingKind, days: int, title: str) -> Upcoming:
        return Upcoming(kind=kind, at=datetime(2026, 11, 20, tzinfo=UTC), in_days=days, title=title, subject_id=uuid4())

    entries = [
        ends(UpcomingKind.LOCKUP, 0, "Lock-up of ABC ends"), ends(UpcomingKind.ATTESTATION, 31, "One expires"),
        ends(UpcomingKind.APPROVAL, 31, "Another lapses"),
    ]  # fmt: skip
    months = views.calendar(entries, today)
    assert [month.label for month in months] == ["Day 0–29", "Day 30–59", "Day 60–89"]
    assert months[0].days[0] == {"kind": "lockup", "title": "20 Nov 2026: Lock-up of ABC ends"}
    assert months[0].days[1] == {"kind": "", "title": "21 Nov 2026"}
    assert months[1].days[1] == {"kind": "several", "title": "21 Dec 2026: One expires; Another lapses"}
