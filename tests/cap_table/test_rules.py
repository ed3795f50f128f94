"""Shares of holdings."""

from backend.cap_table import rules


def test_share_is_rounded_and_zero_of_nothing() -> None:
    assert [rules.share(part, 3) for part in (0, 1, 2, 3)] == [0, 3333, 6667, 10_000]
    assert rules.share(5, 0) == 0
    assert rules.share(2**200, 2**201) == 5_000
