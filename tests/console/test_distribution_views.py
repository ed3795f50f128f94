"""How much of a distribution was claimed, as its list shows it."""

import pytest

from state.distributions.list import _percent


@pytest.mark.parametrize(
    ("claimed", "total", "percent"),
    [(0, 0, 0), (0, 18_000, 0), (11_086, 18_000, 62), (18_000, 18_000, 100), (1, 10**20, 1), (10**20 - 1, 10**20, 99)],
)
def test_claimed_percentage_is_rounded_and_whole_only_at_the_end(claimed: int, total: int, percent: int) -> None:
    assert _percent(claimed, total) == percent
