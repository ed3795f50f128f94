"""What controls decide without a chain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.controls import rules
from backend.errors import BadRequest, Conflict
from backend.fields import MAX_UINT256

AMOUNTS = st.integers(1, 2**200)


@given(AMOUNTS, AMOUNTS)
def test_freezing_and_unfreezing_undo_each_other(frozen: int, amount: int) -> None:
    assert rules.frozen_less(rules.frozen_more(frozen, amount), 0, amount) == frozen


@given(st.integers(0, rules.WHOLE - 1))
def test_a_whole_account_is_frozen_once(frozen: int) -> None:
    whole = rules.frozen_more(frozen, None)
    assert whole == MAX_UINT256
    assert rules.is_whole(whole)
    with pytest.raises(Conflict):
        rules.frozen_more(whole, 1)


@given(AMOUNTS, AMOUNTS)
def test_of_a_whole_account_a_part_is_freed(balance: int, amount: int) -> None:
    for frozen in (MAX_UINT256, MAX_UINT256 - balance):
        if amount > balance:
            with pytest.raises(Conflict):
                rules.frozen_less(frozen, balance, amount)
        else:
            assert rules.frozen_less(frozen, balance, amount) == balance - amount
        assert rules.frozen_less(frozen, balance, None) == 0


@given(AMOUNTS, AMOUNTS)
def test_more_than_is_frozen_is_not_freed(frozen: int, more: int) -> None:
    with pytest.raises(Conflict):
        rules.frozen_less(frozen, 0, frozen + more)


def test_nothing_is_not_done() -> None:
    with pytest.raises(Conflict):
        rules.frozen_less(0, 5, None)
    with pytest.raises(BadRequest):
        rules.check_amount(0)
    with pytest.raises(BadRequest):
        rules.check_apart("0x1", "0x1", "/to_address")
    rules.check_amount(None)
