"""Lists of markets: of the organization, and of one asset."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.markets.schemas import Market, MarketStatus
from state.core.api import Loads
from state.core.arguments import chosen
from state.core.dates import stamp
from state.core.paging import CountedByStatus
from state.core.units import percent
from state.requests.views import shown_status


@dataclass
class MarketView:
    """A row of the list. The status also says that its request awaits approval."""

    id: str
    asset_id: str
    pair: str
    asset: str
    chain: str
    status: str
    fees: str
    why: str
    created_at: str
    price: str
    """Of the newest trade, in base units of the quote currency for a whole token; empty without a trade."""
    quote: str
    quote_decimals: int
    traded_at: str
    volume: str
    """Amount of all trades, in base units of the token."""
    symbol: str
    decimals: int


class MarketsState(CountedByStatus, rx.State):
    """The organization's markets, in keyset pages."""

    rows: list[MarketView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _statuses = MarketStatus

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_organization_markets(
            self._org_id(), status=chosen(MarketStatus, self.status), cursor=cursor or None, **self._order()
        )
        self.rows = [market_view(market) for market in page.markets]
        return page.nextCursor

    async def _number(self, status: str) -> int | None:
        wanted = chosen(MarketStatus, status)
        page = await self._api.list_organization_markets(self._org_id(), status=wanted, limit=1, count="estimated")
        return page.estimatedCount


class AssetMarkets(Loads, rx.State):
    """The markets of the current asset; at most one per chain, so one page holds them."""

    rows: list[MarketView] = []

    @rx.event
    async def load(self) -> None:
        """Read the markets."""
        await self._read()

    async def _read(self) -> None:
        try:
            page = await self._api.list_markets(self._org_id(), self._in_path("asset_id"), limit=100)
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.rows = [market_view(market) for market in page.markets]
        self._loaded()


def market_view(market: Market) -> MarketView:
    """Convert the API's market."""
    return MarketView(
        id=str(market.id),
        asset_id=str(market.asset_id),
        pair=pair(market),
        asset=market.asset_name or "",
        chain=market.chain_name or f"Chain {market.chain_eid}",
        status=shown_status(market),
        fees=f"taker {percent(market.taker_fee_bps)}, maker {percent(market.maker_fee_bps)}",
        why=market.failure or market.halt_reason or "",
        created_at=stamp(market.created_at),
        price=market.last_price or "",
        quote=market.quote_symbol or "",
        quote_decimals=6 if market.quote_decimals is None else market.quote_decimals,
        traded_at=stamp(market.last_trade_at),
        volume=market.volume,
        symbol=market.asset_symbol or "",
        decimals=18 if market.asset_decimals is None else market.asset_decimals,
    )


def pair(market: Market) -> str:
    """Return the pair, like `NREF / USDC`."""
    return " / ".join(filter(None, [market.asset_symbol, market.quote_symbol])) or "Market"
