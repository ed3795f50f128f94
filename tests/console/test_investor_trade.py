"""The market that the page Trade opens first."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from backend.investor_trading.schemas import InvestorMarket
from backend.markets.schemas import MarketStatus
from state.investor.trade import usual

HELD, OTHER = uuid4(), uuid4()


def market(asset_id: UUID, day: int | None) -> InvestorMarket:
    return InvestorMarket(
        id=uuid4(), asset_id=asset_id, name="Fund", symbol="NREF", decimals=18, quote_symbol="tUSD", quote_decimals=6,
        chain_eid=40161, chain_name="Sepolia", status=MarketStatus.ACTIVE, halt_reason=None, taker_fee_bps=30,
        maker_fee_bps=0, last_price=None, best_bid=None, best_ask=None,
        last_trade_at=None if day is None else datetime(2026, 5, day, tzinfo=UTC),
    )  # fmt: skip


def test_market_of_a_held_asset_comes_before_newer_trades() -> None:
    busy, own, quiet = market(OTHER, 9), market(HELD, 4), market(HELD, None)
    assert usual([busy, quiet, own], {HELD}) == str(own.id)
    assert usual([busy, quiet], {HELD}) == str(quiet.id)


def test_investor_without_tokens_sees_the_market_with_the_newest_trade() -> None:
    first, second, third = market(HELD, None), market(HELD, 4), market(OTHER, 9)
    assert usual([first, second, third], set()) == str(third.id)
    assert usual([first], set()) == str(first.id)
    assert usual([], set()) == ""
