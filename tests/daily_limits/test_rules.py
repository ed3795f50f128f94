"""Daily limits, by property."""

from hypothesis import given
from hypothesis import strategies as st

from backend.daily_use import rules
from backend.daily_use.schemas import LimitedAction

AMOUNTS = st.integers(0, 2**256 - 1)
LIMITS = st.one_of(st.none(), st.integers(1, 2**256 - 1))
ACTIONS = st.sampled_from(LimitedAction)


@given(st.integers(1, 1_000), st.lists(st.integers(0, 400), max_size=30))
def test_amounts_within_a_limit_never_sum_above_it(limit: int, amounts: list[int]) -> None:
    used = 0
    for amount in amounts:
        if not rules.exceeds(limit, used, amount):
            used += amount
        assert used <= limit
        assert rules.available(limit, used) == limit - used


@given(AMOUNTS, AMOUNTS)
def test_amount_without_a_limit_is_never_above_it(used: int, amount: int) -> None:
    assert not rules.exceeds(None, used, amount)


@given(LIMITS, LIMITS, AMOUNTS, AMOUNTS)
def test_limit_change_that_does_not_weaken_allows_nothing_more(
    before: int | None, after: int | None, used: int, amount: int
) -> None:
    if not rules.weakens(before, after) and rules.exceeds(before, used, amount):
        assert rules.exceeds(after, used, amount)


@given(st.dictionaries(ACTIONS, st.integers(1, 9)), st.dictionaries(ACTIONS, st.integers(0, 9)))
def test_limit_patch_lists_only_named_and_changed_limits(
    before: dict[LimitedAction, int], wanted: dict[LimitedAction, int]
) -> None:
    changes = rules.changed(before, wanted)
    after = {a: pair[1] for a, pair in changes.items()}
    assert all(pair[0] != pair[1] for pair in changes.values())
    for action, amount in wanted.items():
        assert after.get(action, before.get(action)) == (amount or None)
    assert changes.keys() <= wanted.keys()
