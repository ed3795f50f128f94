"""The figures of an asset's overview: its price, the value of its supply, its holders and markets."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import reflex as rx

from backend.assets.schemas import Asset
from backend.client import ApiProblem
from backend.insight import rules
from state.core.api import Loads
from state.markets.list import AssetMarkets, MarketView


@dataclass
class Figures:
    """What an asset's markets say about it. Amounts are in base units."""

    market: MarketView | None = None
    """The market of the newest trade on any chain."""
    volume: str = "0"
    statuses: str = ""
    """The markets by status, such as "1 active, 1 halted"."""


class AssetFigures(Loads, rx.State):
    """The figures of the current asset: `price` is empty without a trade, and the supply then has its nominal value."""

    holders: int = 0
    markets: int = 0
    statuses: str = ""
    price: str = ""
    quote: str = ""
    quote_decimals: int = 6
    traded_at: str = ""
    traded_on: str = ""
    market_id: str = ""
    volume: str = "0"
    value: str = ""
    nominal: str = ""
    """The nominal value of a whole token in base units of `quote`; empty after the first trade."""
    _nominal: str = ""
    _currency: tuple[str, int] = ("", 6)
    _supply: int = 0
    _unit: int = 1
    _of: str = ""

    @rx.event
    async def load(self) -> None:
        """Read the markets and count the holders."""
        await self._read()

    async def _read(self) -> None:
        markets = await self.get_state(AssetMarkets)
        counted, _ = await asyncio.gather(self._count_holders(), markets._read())
        if isinstance(counted, ApiProblem):
            self._failed(counted)
        elif markets.problem:
            self.loading, self.problem, self.is_forbidden = False, markets.problem, markets.is_forbidden
        else:
            self._loaded()
            self.holders, self.markets = counted, len(markets.rows)
            self._show(figures_of(markets.rows))

    async def _count_holders(self) -> int | ApiProblem:
        """Return the number of investors who hold the asset, each counted once, as the cap table counts them."""
        try:
            page = await self._api.list_holders(self._org_id(), self._in_path("asset_id"), limit=1)
        except ApiProblem as problem:
            return problem
        return page.investors or 0

    def _show(self, found: Figures) -> None:
        market = found.market
        self.volume, self.statuses = found.volume, found.statuses
        self.price = market.price if market else ""
        self.quote, self.quote_decimals = (market.quote, market.quote_decimals) if market else self._currency
        self.traded_at, self.traded_on = (market.traded_at, market.chain) if market else ("", "")
        self.market_id = market.id if market else ""
        self._appraise()

    async def _about(self, asset: Asset, currency: tuple[str, int]) -> None:
        """Take over the supply and nominal value of the current asset, which has no trade in another `currency` yet;
        forget the figures and markets of another one."""
        if self._of != str(asset.id):
            self._of, self.loading, self.problem = str(asset.id), True, ""
            markets = await self.get_state(AssetMarkets)
            markets.rows, markets.loading, markets.problem = [], True, ""
        self._supply, self._unit = int(asset.total_supply), int(10**asset.decimals)
        self._currency = currency
        self._nominal = str(rules.nominal_price(asset.nominal_value, currency[1]) or "") if currency[0] else ""
        if not self.price:
            self.quote, self.quote_decimals = currency
        self._appraise()

    def _appraise(self) -> None:
        self.nominal = "" if self.price else self._nominal
        worth = self.price or self.nominal
        self.value = str(self._supply * int(worth) // self._unit) if worth else ""


def figures_of(markets: Sequence[MarketView]) -> Figures:
    """Return what the markets of an asset say about it."""
    traded = [market for market in markets if market.price]
    statuses = Counter(market.status for market in markets)
    return Figures(
        market=max(traded, key=lambda market: market.traded_at, default=None),
        volume=str(sum(int(market.volume) for market in markets)),
        statuses=", ".join(f"{count} {status.replace('_', ' ')}" for status, count in statuses.items()),
    )
