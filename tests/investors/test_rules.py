"""Decisions of the investor's pages."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.investors.rules import (
    Attested,
    available,
    frozen_part,
    month_of,
    months_between,
    suffices,
    valid_until,
    value,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = st.lists(
    st.builds(
        Attested,
        st.integers(0, 3),
        st.booleans(),
        st.none() | st.integers(1, 900).map(lambda days: NOW + timedelta(days=days)),
    )
)


@settings(deadline=None)
@given(ROWS, st.integers(0, 3), st.booleans())
def test_verification_ends_with_its_last_sufficient_attestation(
    rows: list[Attested], level: int, accredited: bool
) -> None:
    end = valid_until(rows, level, accredited)
    enough = [row for row in rows if suffices(row, level, accredited)]
    if end is None:
        assert not enough or any(row.expires_at is None for row in enough)
    else:
        assert all(row.expires_at is not None and row.expires_at <= end for row in enough)
        assert any(row.expires_at == end for row in enough)


def test_value_is_rounded_down_to_base_units() -> None:
    assert value(102_000_001, 10**17, 18) == 10_200_000
    assert value(102_000_000, 116 * 10**18, 18) == 116 * 102_000_000


def test_available_amount_is_unknown_without_the_frozen_one_and_never_negative() -> None:
    assert [available(10, 3, frozen) for frozen in (None, 2, 20)] == [None, 5, 0]


def test_frozen_part_is_at_most_what_is_held() -> None:
    assert [frozen_part(10, frozen) for frozen in (None, 0, 7, 2**256 - 1)] == [None, 0, 7, 10]


def test_months_are_in_utc_and_follow_each_other_without_a_gap() -> None:
    start, until = month_of("2026-12")
    assert (start, until) == (datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    assert months_between(start - timedelta(seconds=1), until) == ["2026-11", "2026-12", "2027-01"]
    assert months_between(start, start) == ["2026-12"]
