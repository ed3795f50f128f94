"""Shares in proportion, as properties."""

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from backend.distributions import rules

HOLDINGS = st.dictionaries(st.integers(1, 2**160 - 1).map(lambda n: f"0x{n:040x}"), st.integers(0, 2**128), min_size=1)


@given(st.integers(1, 2**128), HOLDINGS)
def test_shares_sum_to_the_total_and_are_less_than_one_unit_off(total: int, holdings: dict[str, int]):
    held = sum(holdings.values())
    found = rules.shares(total, holdings)
    if not held:
        assert found == {}
        return
    assert sum(found.values()) == total
    assert all(abs(found.get(who, 0) - Fraction(total * amount, held)) < 1 for who, amount in holdings.items())
    assert all(found.values())


@given(st.integers(1, 2**64), HOLDINGS)
def test_share_of_a_larger_holder_is_not_smaller(total: int, holdings: dict[str, int]):
    found = rules.shares(total, holdings)
    ranked = sorted(holdings, key=lambda who: holdings[who])
    assert all(
        found.get(less, 0) <= found.get(more, 0) for less, more in pairwise(ranked) if holdings[less] < holdings[more]
    )


def test_share_remainder_goes_to_the_lower_address():
    assert rules.shares(5, {"0xb": 1, "0xA": 1, "0xc": 1}) == {"0xA": 2, "0xb": 2, "0xc": 1}
