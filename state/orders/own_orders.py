"""Words on the organization's own open orders that an order would meet."""

from backend.markets.schemas import OrderSide, OwnOrder
from state.core.units import grouped, rounded
from state.markets.detail import MarketDetail

SHOWN = 3


def own_orders_words(side: str, found: list[OwnOrder], market: MarketDetail) -> list[str]:
    """Return a sentence for each of the best own orders that an order of a side would meet, and one on the rest."""
    sells = "sells" if side == OrderSide.BUY else "buys"
    words = [_sentence(own, sells, market) for own in found[:SHOWN]]
    if further := len(found) - SHOWN:
        words += [f"{further} further own orders are at such prices."] if further > 1 else []
        words += ["1 further own order is at such a price."] if further == 1 else []
    return words


def _sentence(own: OwnOrder, sells: str, market: MarketDetail) -> str:
    amount = f"{rounded(own.amount, market.decimals)} {market.symbol}"
    price = f"{grouped(own.price, market.quote_decimals)} {market.quote}"
    fact = f"{own.wallet_name} {sells} {amount} at {price}."
    if own.fills:
        return f"{fact} The organization would trade with itself, and pay the fees."
    return f"{fact} A wallet cannot trade with itself: this order skips that one, and what is not filled stays open."
