"""The wallet and the total that the order form offers."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from backend.accounts.schemas import Account
from backend.wallets.schemas import AddressKind, Wallet
from state.markets.detail import MarketDetail
from state.orders.choice import first_choice, options_of, total_of

TREASURY = str(UUID(int=9))


def _account(number: int, **facts: Any) -> Account:
    known = {"eligible": True, "quote_balance": "0", "last_used_at": None, "party_id": None} | facts
    return Account(
        address=f"0x{number:040x}", kind=AddressKind.OWN_WALLET, name=None, wallet_id=UUID(int=number),
        balance="0", reasons=[], **known,
    )  # fmt: skip


def test_first_choice_is_the_treasury() -> None:
    accounts = [_account(1, last_used_at=datetime(2026, 1, 1, tzinfo=UTC)), _account(9)]
    assert first_choice("buy", accounts, TREASURY) == first_choice("sell", accounts, TREASURY) == TREASURY
    assert first_choice("buy", [], TREASURY) == TREASURY


def test_first_choice_without_an_eligible_treasury_is_another_wallet_of_the_organization() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    refused = _account(9, eligible=False)
    accounts = [refused, _account(1), _account(2, quote_balance="5", eligible=False), _account(3, quote_balance="5")]
    assert first_choice("buy", accounts, TREASURY) == str(UUID(int=3))
    assert first_choice("sell", accounts, TREASURY) == str(UUID(int=1))
    used = [refused, _account(1, last_used_at=early), _account(2, last_used_at=late), _account(3, quote_balance="5")]
    assert first_choice("buy", used, TREASURY) == str(UUID(int=2))


def test_wallets_that_may_not_trade_are_listed_after_the_others() -> None:
    wallets = [Wallet.model_construct(id=UUID(int=n), label=f"Wallet {n}", address=f"0x{n:040x}") for n in (1, 2, 3, 4)]
    accounts = [_account(1, eligible=False), _account(2), _account(3, eligible=False)]
    assert [one["value"] for one in options_of(wallets, accounts)] == [str(UUID(int=n)) for n in (2, 1, 3, 4)]


def test_first_choice_is_never_the_wallet_of_a_party() -> None:
    custody = _account(1, party_id=UUID(int=7), quote_balance="5", last_used_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert first_choice("buy", [custody, _account(9)], TREASURY) == TREASURY
    assert first_choice("buy", [custody], "") == ""


@given(st.integers(1, 10**12), st.integers(1, 10**24), st.integers(0, 10_000))
def test_total_with_fees_is_never_better_than_the_total(price: int, amount: int, fee: int) -> None:
    market = MarketDetail(decimals=18, quote_decimals=6, quote="tUSD", fee_bps=fee)

    def number(words: str) -> float:
        return float(words.removeprefix("at most ").removeprefix("at least ").split(" ")[0].replace(",", ""))

    for side, sign in (("buy", 1), ("sell", -1)):
        total, after = total_of(side, str(price), str(amount), market)
        assert (after == "") == (fee == 0)
        assert not after or sign * (number(after) - number(total)) >= 0
