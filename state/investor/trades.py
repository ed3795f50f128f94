"""The investor's last trades."""

from dataclasses import dataclass

import reflex as rx

from backend.investors.schemas import InvestorTrade, InvestorTrades
from backend.markets.schemas import OrderSide
from state.core.api import Api
from state.core.dates import stamp
from state.core.units import priced
from state.investor.amounts import money, tokens

SHOWN = 5


@dataclass
class TradeView:
    """A trade: `Bought 5 NREF at 103.10 tUSD`, and what was paid or received with the fee."""

    id: str
    title: str
    sum: str
    at: str


class LastTrades(Api, rx.State):
    """The card on the home page."""

    rows: list[TradeView] = []

    def _show(self, found: InvestorTrades) -> None:
        self.rows = [_view(trade) for trade in found.trades[:SHOWN]]


def _view(trade: InvestorTrade) -> TradeView:
    decimals, quote = trade.quote_decimals or 0, trade.quote_symbol or ""
    is_buy = trade.side is OrderSide.BUY
    total = int(trade.value) + (int(trade.fee) if is_buy else -int(trade.fee))
    amount, price = tokens(trade.amount, trade.decimals), priced(trade.price, decimals, is_exact=False)
    return TradeView(
        id=f"{trade.order_id}:{trade.id}",
        title=f"{'Bought' if is_buy else 'Sold'} {amount} {trade.symbol} at {price} {quote}",
        sum=f"{'Paid' if is_buy else 'Received'} {money(total, decimals)} {quote}, fee included",
        at=stamp(trade.executed_at),
    )
