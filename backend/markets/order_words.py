"""Orders in words, for the titles of their requests."""

from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.core.units import grouped, priced
from backend.markets.models import MarketRow, OrderRow
from backend.wallets.known_names import titles_of


async def words_of(context: Context, market: MarketRow, asset: AssetRow, order: OrderRow) -> str:
    """Return what an order is about: `2,100 NREF at 99.80 tUSD for Alder Family Office`."""
    amount = f"{grouped(order.amount or 0, asset.decimals)} {asset.symbol}"
    price = f"{priced(order.price or 0, market.quote_decimals or 0)} {market.quote_symbol or ''}".rstrip()
    names = await titles_of(context.session, context.organization_id, [order.maker_address])
    return f"{amount} at {price} for {names[order.maker_address]}"
