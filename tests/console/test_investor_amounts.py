"""Amounts of the investor's pages: no ellipsis, money with two decimals, and how a holding came about."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from backend.investors.schemas import InvestorTrade
from backend.markets.schemas import OrderSide
from state.investor.amounts import money, tokens
from state.investor.positions import MOST, Position, position
from state.investor.trades import _view

ASSET, UNIT = uuid4(), 10**18


def trade(side: OrderSide, amount: int, asset_id: UUID = ASSET, **more: Any) -> InvestorTrade:
    known = {
        "id": uuid4(), "asset_id": asset_id, "market_id": uuid4(), "order_id": uuid4(), "symbol": "NREF",
        "decimals": 18, "quote_symbol": "tUSD", "quote_decimals": 6, "chain_eid": 40161, "chain_name": "Sepolia",
        "side": side, "price": "101900000", "amount": str(amount * UNIT), "value": str(amount * 101_900_000),
        "fee": "3362700", "tx_hash": "0x1", "executed_at": datetime(2026, 10, 23, tzinfo=UTC),
    }  # fmt: skip
    return InvestorTrade.model_validate(known | more)


@pytest.mark.parametrize(
    ("units", "text"),
    [
        (1_124_262_700, "1,124.26"), (1_124_265_000, "1,124.27"), (1_206_600_000, "1,206.60"), (0, "0.00"),
        (1, "<0.01"),
    ],
)  # fmt: skip
def test_money_is_rounded_to_two_decimals(units: int, text: str) -> None:
    assert money(units, 6) == text


def test_tokens_are_cut_without_an_ellipsis() -> None:
    assert tokens(12_629_999_999_999_999_999, 18, 2) == "12.62"
    assert tokens(12 * UNIT + 1, 18) == "12"
    assert tokens(1, 18, 2) == "<0.01"


def test_trade_reads_what_was_paid_with_two_decimals() -> None:
    shown = _view(trade(OrderSide.BUY, 11))
    assert (shown.title, shown.sum) == ("Bought 11 NREF at 101.90 tUSD", "Paid 1,124.26 tUSD, fee included")


def test_holding_is_explained_by_its_trades_and_the_rest() -> None:
    trades = [trade(OrderSide.BUY, 11), trade(OrderSide.SELL, 1), trade(OrderSide.BUY, 5, uuid4())]
    assert position(ASSET, 470 * UNIT, trades) == Position(10 * UNIT, 460 * UNIT, "1,025.73 tUSD")


def test_holding_that_its_trades_do_not_explain_has_no_position() -> None:
    assert position(ASSET, 470 * UNIT, []) is None
    assert position(ASSET, 5 * UNIT, [trade(OrderSide.BUY, 11)]) is None
    assert position(ASSET, 470 * UNIT, [trade(OrderSide.BUY, 1)] * MOST) is None
