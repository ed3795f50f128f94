"""What an investor reads about frozen tokens."""

from typing import Any
from uuid import UUID

import pytest

from backend.investors.schemas import InvestorAccount, InvestorHolding
from state.investor.wallets import frozen_holding
from state.investor.words import Verdict, with_freeze

WHOLE = "Northwind has frozen all your NREF. You cannot transfer or sell it, or any NREF that you receive later."
PART = "Northwind has frozen 7.5 NREF. You cannot transfer or sell this part."


def account(frozen: str | None, *, is_frozen: bool | None = False) -> InvestorAccount:
    return InvestorAccount(
        chain_eid=40161, chain_name="Sepolia", address=f"0x{1:040x}", total="100", in_orders="0", frozen=frozen,
        is_frozen=is_frozen, available=None,
    )  # fmt: skip


def said(*accounts: InvestorAccount, in_orders: str = "0") -> str:
    unknown: dict[str, Any] = dict.fromkeys(
        ("since", "frozen", "available", "value", "price", "priced_at", "quote_symbol", "quote_decimals")
    )
    holding = InvestorHolding(
        asset_id=UUID(int=7), name="Fund", symbol="NREF", decimals=1, total="200", in_orders=in_orders,
        accounts=list(accounts), **unknown,
    )  # fmt: skip
    return frozen_holding(holding, "Northwind")


@pytest.mark.parametrize(
    ("accounts", "words"),
    [
        ([account("0")], ""),
        ([account(None, is_frozen=None)], ""),
        ([account("75")], PART),
        ([account("100", is_frozen=True)], WHOLE),
        ([account("0", is_frozen=True)], WHOLE),
        ([account("75", is_frozen=True), account("0")], PART),
        ([account("75"), account(None, is_frozen=None)], PART),
    ],
)
def test_frozen_part_of_a_holding_is_said(accounts: list[InvestorAccount], words: str) -> None:
    assert said(*accounts) == words


def test_open_orders_of_a_frozen_holding_stay_open() -> None:
    assert said(account("100", is_frozen=True), in_orders="10") == f"{WHOLE} Open orders stay open."


def test_verdict_about_a_frozen_holding_is_no_approval() -> None:
    found = with_freeze(Verdict("ok", "Verified.", "Ask Northwind to renew it."))
    assert (found.tone, found.next_step) == ("warn", "Your holding is frozen. Ask Northwind to renew it.")
    assert with_freeze(Verdict("bad", "You may not hold it.", "")).tone == "bad"
