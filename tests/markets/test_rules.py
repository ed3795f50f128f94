"""Decisions about markets and orders, as pure functions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import BadRequest
from backend.markets import rules
from backend.markets.rules import Resting
from backend.markets.schemas import OrderSide

resting = st.builds(
    Resting,
    order_id=st.integers(1, 10**6),
    side=st.sampled_from(OrderSide),
    price=st.integers(1, 20),
    rest=st.integers(1, 20),
    maker=st.sampled_from(["0xA", "0xB", "0xC"]),
)
books = st.lists(resting, max_size=60, unique_by=lambda o: o.order_id)


@given(books, st.sampled_from(OrderSide), st.integers(1, 20), st.integers(1, 200))
def test_hints_are_the_best_matches_and_minimal(book: list[Resting], side: OrderSide, price: int, amount: int) -> None:
    named = rules.hints(book, side, price, amount, "0xA")
    by_id = {o.order_id: o for o in book}
    chosen = [by_id[i] for i in named]
    assert len(named) == len(set(named)) <= rules.MAX_HINTS
    assert all(o.side is not side and o.maker != "0xA" for o in chosen)
    buys = side is OrderSide.BUY
    assert all(o.price <= price if buys else o.price >= price for o in chosen)
    prices = [o.price for o in chosen]
    assert prices == sorted(prices, reverse=not buys)
    assert sum(o.rest for o in chosen[:-1]) < amount or not chosen


def test_orders_that_a_new_one_meets_end_where_it_is_filled() -> None:
    orders = ((1, 12, "0xA"), (2, 11, "0xA"), (3, 11, "0xB"), (4, 13, "0xB"))
    book = [Resting(number, OrderSide.SELL, price, 5, maker) for number, price, maker in orders]

    def met(price: int, amount: int, maker: str) -> list[int]:
        return [one.order_id for one in rules.met_by(book, OrderSide.BUY, price, amount, maker)]

    assert met(10, 4, "0xA") == []
    assert met(11, 4, "0xB") == [2]
    assert met(11, 5, "0xA") == [2, 3]
    assert met(13, 6, "0xA") == [2, 3, 1, 4]
    assert met(13, 6, "0xC") == [2, 3]


@given(
    st.integers(1, 10**12), st.integers(1, 10**24), st.sampled_from([6, 18]), st.integers(0, 10_000), st.integers(0, 32)
)
def test_budget_covers_price_and_fee(price: int, amount: int, decimals: int, fee: int, named: int) -> None:
    needed = rules.budget(OrderSide.BUY, price, amount, decimals, fee, named)
    exact = price * amount * (10_000 + fee)
    assert needed * 10**decimals * 10_000 >= exact
    assert rules.budget(OrderSide.SELL, price, amount, decimals, fee, named) == amount


def test_order_without_a_representable_worth_is_rejected() -> None:
    rules.check_worth(12_500_000, 10**18, 18)
    for price, amount in ((0, 1), (1, 0), (1, 10**17), (2**256 - 1, 2**256 - 1)):
        with pytest.raises(BadRequest) as raised:
            rules.check_worth(price, amount, 18)
        assert raised.value.pointer in ("/price", "/amount")


def test_fees_above_a_hundred_percent_are_rejected() -> None:
    rules.check_fees(10_000, 0)
    with pytest.raises(BadRequest):
        rules.check_fees(10_000, 1)


@pytest.mark.parametrize(("is_taker_buying", "value"), [(True, 4), (False, 3)])
def test_cost_of_a_trade_is_rounded_against_the_taker(is_taker_buying: bool, value: int) -> None:
    assert rules.cost(10, 35, 2, is_taker_buying=is_taker_buying) == value
    assert rules.cost(10, 30, 2, is_taker_buying=is_taker_buying) == 3
