"""Decisions of controls without a chain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.compliance.rules import WHOLLY_FROZEN
from backend.controls import rules
from backend.core.errors import BadRequest, Conflict
from backend.core.fields import MAX_UINT256

AMOUNTS = st.integers(1, 2**200)


@given(AMOUNTS, AMOUNTS)
def test_freeze_and_unfreeze_are_inverse(frozen: int, amount: int) -> None:
    assert rules.frozen_less(rules.frozen_more(frozen, amount), 0, amount) == frozen


@given(st.integers(0, WHOLLY_FROZEN - 1))
def test_whole_account_freeze_cannot_be_repeated(frozen: int) -> None:
    whole = rules.frozen_more(frozen, None)
    assert whole == MAX_UINT256
    assert rules.is_whole(whole)
    with pytest.raises(Conflict):
        rules.frozen_more(whole, 1)


@given(AMOUNTS, AMOUNTS)
def test_whole_account_freeze_can_be_partly_lifted(balance: int, amount: int) -> None:
    for frozen in (MAX_UINT256, MAX_UINT256 - balance):
        if amount > balance:
            with pytest.raises(Conflict):
                rules.frozen_less(frozen, balance, amount)
        else:
            assert rules.frozen_less(frozen, balance, amount) == balance - amount
        assert rules.frozen_less(frozen, balance, None) == 0


@given(AMOUNTS, AMOUNTS)
def test_unfreeze_above_the_frozen_amount_is_rejected(frozen: int, more: int) -> None:
    with pytest.raises(Conflict):
        rules.frozen_less(frozen, 0, frozen + more)


def test_control_without_an_effect_is_rejected() -> None:
    with pytest.raises(Conflict):
        rules.frozen_less(0, 5, None)
    with pytest.raises(BadRequest):
        rules.check_amount(0)
    with pytest.raises(BadRequest):
        rules.check_apart("0x1", "0x1", "/to_address")
    rules.check_amount(None)
