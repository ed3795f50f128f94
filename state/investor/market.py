"""A market as investors see it."""

from dataclasses import dataclass

from backend.investor_trading.schemas import InvestorLevel, InvestorMarket
from backend.markets.schemas import MarketStatus
from state.core.dates import stamp
from state.core.units import priced
from state.investor.amounts import tokens


@dataclass
class TradedMarket:
    """A market. Prices in base units of the quote currency; empty where unknown."""

    id: str = ""
    name: str = ""
    symbol: str = ""
    decimals: int = 18
    quote: str = ""
    quote_decimals: int = 6
    chain: str = ""
    last_price: str = ""
    last_trade_at: str = ""
    best_bid: str = ""
    best_ask: str = ""
    fee_bps: int = 0
    closed: str = ""
    """Why it takes no orders."""


@dataclass
class LevelView:
    """The open orders at one price; `share` is the width of its bar."""

    price: str
    amount: str
    share: str


def market_view(one: InvestorMarket) -> TradedMarket:
    """Convert the API's market."""
    return TradedMarket(
        id=str(one.id),
        name=one.name,
        symbol=one.symbol,
        decimals=one.decimals,
        quote=one.quote_symbol,
        quote_decimals=one.quote_decimals,
        chain=one.chain_name,
        last_price=one.last_price or "",
        last_trade_at=stamp(one.last_trade_at),
        best_bid=one.best_bid or "",
        best_ask=one.best_ask or "",
        fee_bps=max(one.taker_fee_bps, one.maker_fee_bps),
        closed=one.halt_reason or "The market is halted." if one.status is MarketStatus.HALTED else "",
    )


def level_view(level: InvestorLevel, most: int, market: InvestorMarket) -> LevelView:
    """Convert a level of the order book; `most` is the amount whose bar is as wide as can be."""
    share = 100 * int(level.amount) // most if most else 0
    price = priced(level.price, market.quote_decimals)
    return LevelView(price, tokens(level.amount, market.decimals, 2), f"{max(share, 2)}%")
