"""What an investor's trades contributed to a holding. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.investors.schemas import InvestorTrade
from backend.markets.schemas import OrderSide
from state.investor.amounts import money

MOST = 100
"""Trades that the API returns. With as many, earlier ones may be missing."""


@dataclass(frozen=True)
class Position:
    """`traded`: base units bought less those sold. `other`: the rest of the holding, which came without a trade.
    `paid`: what the trades cost with fees, less what they brought, such as `5,065.55 tUSD`; empty if not one amount."""

    traded: int
    other: int
    paid: str


def position(asset_id: UUID, total: int, trades: Sequence[InvestorTrade]) -> Position | None:
    """Return how a holding came about; None without trades of the asset, and where the trades do not explain it."""
    own = [trade for trade in trades if trade.asset_id == asset_id]
    traded = sum(_sign(trade) * int(trade.amount) for trade in own)
    if not own or len(trades) >= MOST or not 0 <= traded <= total:
        return None
    paid = sum(_sign(trade) * int(trade.value) + int(trade.fee) for trade in own)
    currencies = {(trade.quote_symbol, trade.quote_decimals) for trade in own}
    symbol, decimals = currencies.pop()
    is_one = not currencies and symbol is not None and paid >= 0
    return Position(traded, total - traded, f"{money(paid, decimals or 0)} {symbol}" if is_one else "")


def _sign(trade: InvestorTrade) -> int:
    return 1 if trade.side is OrderSide.BUY else -1
